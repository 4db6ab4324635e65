#include "runtime/cuda/attention/attention_pieces.hpp"
#include "runtime/cuda/attention/cudnn_attention.hpp"
#include "runtime/cuda/attention/cudnn_plan.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include "shipped_recipes.hpp"

#include <monomorph/device/cuda.hpp>
#include <monomorph/plan/memory.hpp>

#include <dlfcn.h>
#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// cuDNN itself, without a GPU: it is told what a GPU is like, and chooses, checks and compiles its kernels for it.
namespace monomorph::testing {
namespace {

using cuda::AttentionCall;
using cuda::CudnnPlan;
using cuda::Direction;

const std::string here = MONOMORPH_SOURCE_DIR "/tests/gpu/cudnn_plans/";
const cuda::DescribedGpu h200{90, read_bytes(here + "h200.json")}, a100{80, read_bytes(here + "a100.json")};

/// Why cuDNN can not be asked.
std::optional<std::string> lacking() {
  if (dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL) == nullptr) return std::string(dlerror());
  return std::nullopt;
}
/// The plan is that of the version which the project is developed with. Newer ones need less.
bool asks_as_planned() { return CudnnPlan::cudnn_version() / 100 == 919; }

/// Attention of a layer as a step calls it: queries, keys and values lie side by side in a row, unless queries and keys
/// are normalised, which have rows of their own.
AttentionCall call_of(const device::AttentionExtent& of, DType dtype, const AttentionMask& mask, bool qk_norm) {
  static std::byte* const somewhere = reinterpret_cast<std::byte*>(std::uintptr_t{1} << 20);
  const std::int64_t rows = of.batch * of.tokens, Q = of.heads * of.head_dim, K = of.kv_heads * of.head_dim;
  const auto rows_of = [&](std::int64_t width) { return View(somewhere, dtype, {rows, width}); };
  const View qkv = rows_of(Q + 2 * K), qk = qk_norm ? rows_of(Q + K) : qkv.columns(0, Q + K), q_rows = rows_of(Q);
  AttentionCall call;
  call.q = qk.columns(0, Q), call.k = qk.columns(Q, K), call.v = qkv.columns(Q + K, K);
  call.dq = qkv.columns(0, Q), call.dk = qkv.columns(Q, K), call.dv = call.v;
  call.out = q_rows, call.dout = q_rows;
  call.lse_BNT = View(somewhere, DType::fp32, {of.batch * of.heads, of.tokens});
  call.shape = {of.batch, of.tokens, of.heads, of.kv_heads, of.head_dim, 0.125};
  call.mask = mask;
  return call;
}

std::int64_t workspace_of(Direction direction, const AttentionCall& call, const cuda::DescribedGpu& gpu) {
  static std::map<std::pair<int, cuda::CudnnPlanKey>, std::int64_t> asked;
  const auto key = std::pair(gpu.sm, cuda::key_of(direction, call));
  if (const auto found = asked.find(key); found != asked.end()) return found->second;
  return asked[key] = CudnnPlan(key.second, gpu).workspace_bytes();
}

/// What gradients ask for in parts, as the backend divides them.
std::int64_t gradients_in_parts(const AttentionCall& call, const cuda::DescribedGpu& gpu) {
  const auto& s = call.shape;
  const device::AttentionExtent whole{s.batch, s.tokens, s.heads, s.kv_heads, s.head_dim},
      part = device::gradient_part(whole, device::cudnn_gradient_bytes(whole));
  if (part == whole) return workspace_of(Direction::backward, call, gpu);
  return gradients_in_parts(cuda::piece_of(call, 0, part.batch, 0, part.kv_heads), gpu);
}

/// Compares one attention on both GPUs with what the plan says.   @return what it asks for on the larger one
std::int64_t check_planned(const device::AttentionExtent& of, const AttentionCall& call) {
  CAPTURE(of.batch, of.tokens, of.heads, of.kv_heads, of.head_dim, name_of(call.q.dtype), call.mask.before,
          call.mask.after);
  REQUIRE(cuda::cudnn_takes(call));
  const std::int64_t planned = device::cudnn_workspace_bytes(of);
  const std::int64_t forward = workspace_of(Direction::forward, call, h200), backward = gradients_in_parts(call, h200);
  if (asks_as_planned())
    CHECK(backward == planned);
  else
    CHECK(backward <= planned);
  CHECK(forward <= backward);
  CHECK(forward <= device::Cuda::product_workspace_bytes);  // so that a pass forward alone needs no more
  CHECK(workspace_of(Direction::forward, call, a100) <= planned);
  CHECK(gradients_in_parts(call, a100) <= planned);
  return backward;
}

/// One layer, by the recipe whose attention and sizes it has.
struct Layer {
  PassExtent extent;
  DType dtype;
  bool qk_norm;
  device::AttentionExtent sizes() const {
    return {extent.batch, extent.tokens, extent.heads, extent.kv_heads, extent.head_dim};
  }
  AttentionCall call() const {
    static constexpr std::int32_t starts = 0;
    AttentionCall made = call_of(sizes(), dtype, extent.mask, qk_norm);
    if (extent.within_documents) made.document_starts = &starts;
    return made;
  }
};
template <class Tower> Layer layer_of(std::int64_t micro_batch) {
  return {plan::layer_extent<Tower>(micro_batch, plan::Purpose::training), Tower::precision::compute_dtype,
          trunk_of<Tower>.qk_norm};
}

template <class R> std::vector<Layer> layers_with_attention(std::int64_t micro_batch) {
  std::vector<Layer> layers{layer_of<R>(micro_batch)};
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    if constexpr (requires { typename Block::Tower; }) layers.push_back(layer_of<typename Block::Tower>(micro_batch));
  });
  return layers;
}

/// @return layers that cuDNN computes
template <class R> int check_recipe(const std::string& name, std::int64_t micro_batch) {
  CAPTURE(name, micro_batch);
  std::int64_t most = device::Cuda::product_workspace_bytes;
  int n_by_cudnn = 0;
  for (const Layer& layer : layers_with_attention<R>(micro_batch)) {
    const bool by_cudnn = layer.extent.tiled && cuda::cudnn_takes(layer.call());
    if (by_cudnn) most = std::max(most, check_planned(layer.sizes(), layer.call()));
    n_by_cudnn += by_cudnn;
  }
  using OnGpu = On<R, device::Cuda>;
  const std::int64_t ids = device::Cuda::id_parts *
                           device::Cuda::id_part_bytes(4 * micro_batch * trunk_of<R>.context_length),
                     beside = ids + device::Cuda::recording_bytes,
                     planned = plan::memory<OnGpu>(1, micro_batch).device_workspace;
  if (asks_as_planned())
    CHECK(planned == most + beside);
  else
    CHECK(planned >= most + beside);
  return n_by_cudnn;
}

/// A teacher goes forward alone, in the workspace that its student's layers and products have.
/// @return its layers that cuDNN computes
template <class R> int check_teacher(const std::string& name, std::int64_t micro_batch) {
  CAPTURE(name, micro_batch);
  int n_by_cudnn = 0;
  if constexpr (has_teacher<objective_of<R>>) {
    const std::int64_t tokens = micro_batch * trunk_of<R>.context_length,
                       planned = device::Cuda::shared_workspace_bytes(
                           plan::memory<On<R, device::Cuda>>(1, micro_batch).device_workspace, tokens);
    for (const Layer& layer : layers_with_attention<plan::TeacherOf<R>>(micro_batch)) {
      const AttentionCall call = layer.call();
      if (!layer.extent.tiled || !cuda::cudnn_takes(call)) continue;
      for (const cuda::DescribedGpu& gpu : {h200, a100}) CHECK(workspace_of(Direction::forward, call, gpu) <= planned);
      ++n_by_cudnn;
    }
  }
  return n_by_cudnn;
}

/// That of the recipe's hyperparameters; a run that names none has at most 8 sequences.
std::int64_t micro_batch_of(const std::string& recipe) {
  const auto hparams = nlohmann::json::parse(read_bytes(MONOMORPH_SOURCE_DIR "/recipes/" + recipe + ".json"));
  const nlohmann::json& batch = hparams.at("batch");
  return batch.value("micro_batch", std::min(batch.at("global_batch").get<std::int64_t>(), std::int64_t{8}));
}

/// A recipe whose user has changed one line.
template <class R> struct InBf16 : R { using precision = precision::Bf16Mixed; };

}  // namespace

TEST_CASE("cuDNN builds plans for the attention of each shipped recipe, and asks for what the plan counts") {
  if (const auto reason = lacking()) MONOMORPH_SKIP(*reason);
  std::set<std::string> by_cudnn, by_ours, taught_by_cudnn;
  for_each_shipped_recipe([&]<class R>(const std::string& name) {
    const std::int64_t micro_batch = micro_batch_of(name);
    (check_recipe<R>(name, micro_batch) > 0 ? by_cudnn : by_ours).insert(name);
    check_recipe<InBf16<R>>(name + " in bf16", micro_batch);
    check_teacher<R>("the teacher of " + name, micro_batch);
    if (check_teacher<InBf16<R>>("the teacher of " + name + " in bf16", micro_batch) > 0) taught_by_cudnn.insert(name);
  });
  CHECK(by_cudnn.contains("gpt2_fsdp_bf16"));
  CHECK(by_cudnn.contains("llama3_1b_fsdp_bf16"));
  CHECK(by_cudnn.contains("tiny_gpt2_fp16"));
  CHECK(by_ours.contains("tiny_documents"));
  CHECK(by_ours.contains("gpt2_ddp_fp32"));
  CHECK(taught_by_cudnn == std::set<std::string>{"tiny_distillation"});
}

TEST_CASE("cuDNN builds plans for the models whose speed is measured, in parts where they are large") {
  if (const auto reason = lacking()) MONOMORPH_SKIP(*reason);
  CHECK(check_recipe<bench::gpt2_124m>("GPT-2 124M", 32) > 0);
  CHECK(check_recipe<bench::gpt2_124m>("GPT-2 124M", 64) > 0);
  CHECK(check_recipe<bench::qwen_1_5b>("Qwen 2.5 1.5B", 8) > 0);
  CHECK(check_recipe<bench::llama_1b>("Llama 3 1B", 4) > 0);
  CHECK(check_recipe<bench::llama_8b>("Llama 3 8B", 1) > 0);
  CHECK(device::cudnn_gradient_bytes({1, 8192, 32, 8, 128}) > device::most_attention_workspace_bytes);
}

TEST_CASE("what cuDNN asks for follows from the sizes of attention alone", "[sizes]") {
  if (const auto reason = lacking()) MONOMORPH_SKIP(*reason);
  struct Case {
    device::AttentionExtent of;
    DType dtype;
    AttentionMask mask;
    bool qk_norm;
  };
  constexpr AttentionMask causal{}, full{.after = AttentionMask::unlimited}, window{.before = 15},
      both{.before = 20, .after = 10};
  constexpr DType bf16 = DType::bf16, fp16 = DType::fp16;
  const Case cases[] = {{{3, 2, 2, 2, 64}, bf16, causal, false},        {{1, 63, 4, 4, 8}, fp16, full, false},
                        {{4, 64, 4, 2, 16}, bf16, window, true},        {{2, 65, 6, 3, 24}, fp16, both, false},
                        {{1, 127, 4, 1, 128}, bf16, causal, true},      {{1, 128, 8, 8, 40}, bf16, full, false},
                        {{2, 129, 4, 2, 72}, fp16, causal, false},      {{1, 200, 12, 4, 80}, bf16, window, false},
                        {{5, 300, 2, 1, 96}, bf16, both, true},         {{1, 1000, 3, 3, 120}, fp16, causal, false},
                        {{2, 2048, 16, 2, 112}, bf16, window, false},   {{1, 4096, 14, 2, 64}, bf16, causal, false},
                        {{4096 * 2, 64, 16, 16, 8}, bf16, full, false}, {{3, 1020, 25, 25, 64}, bf16, causal, false}};
  for (const Case& one : cases) check_planned(one.of, call_of(one.of, one.dtype, one.mask, one.qk_norm));
}

TEST_CASE("what cuDNN refuses ends in one line") {
  if (const auto reason = lacking()) MONOMORPH_SKIP(*reason);
  const AttentionCall wide = call_of({1, 64, 2, 2, 264}, DType::bf16, {}, false);
  CHECK_FALSE(cuda::cudnn_takes(wide));
  CHECK(error_of([&] {
          CudnnPlan(cuda::key_of(Direction::backward, wide), h200);
        }).starts_with("[GPU-01] cuDNN does not compute this attention ("));
  const AttentionCall narrow = call_of({1, 64, 2, 2, 64}, DType::bf16, {}, false);
  CHECK(error_of([&] {
          CudnnPlan(cuda::key_of(Direction::forward, narrow), {90, "not JSON"});
        }).starts_with("[GPU-01]"));
}

}  // namespace monomorph::testing
