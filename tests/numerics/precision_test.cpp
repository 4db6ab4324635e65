// Each precision keeps what its policy says in the dtype that it says, and computes what fp32 does but for rounding.
#include "numerics/schedule_recipes.hpp"
#include "out_of_tree/lean_bf16.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/ranks.hpp"
#include "support/reference_model.hpp"
#include "support/tensors.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>

namespace monomorph::testing {
namespace {

template <class R, class Precision> struct In : R { using precision = Precision; };

struct Pass {
  double loss = 0;
  Tensors gradients;
};

template <Recipe R> Pass one_pass(double loss_scale) {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  set_loss_scale(step, loss_scale);
  Pass pass;
  for (const std::int64_t i : {0, 1})
    pass.loss += accumulate(step, sequences.from(2 * i, R::model.context_length), 1, {i, 2}).loss;
  pass.gradients = values_of(step.gradients());
  for (auto& [name, values] : pass.gradients)
    for (double& value : values) value /= loss_scale;
  return pass;
}

template <class R, class Precision> void check_near_fp32(double tolerance, double loss_scale) {
  CAPTURE(monomorph::type_name<Precision>(), loss_scale);
  const Pass exact = one_pass<In<R, precision::Fp32>>(1), pass = one_pass<In<R, Precision>>(loss_scale);
  CHECK(std::abs(pass.loss / exact.loss - 1) < tolerance);
  const Difference worst = worst_difference(pass.gradients, exact.gradients);
  CAPTURE(worst.name);
  CHECK(worst.error < tolerance);
}

/// What each precision keeps in which dtype, once more: what is promised does not follow a policy that changes.
struct Dtypes {
  DType compute, gradients, state;
};
template <class Precision> constexpr Dtypes dtypes_of{DType::bf16, DType::fp32, DType::fp32};
template <> constexpr Dtypes dtypes_of<precision::Fp32>{DType::fp32, DType::fp32, DType::fp32};
template <> constexpr Dtypes dtypes_of<precision::Bf16Pure>{DType::bf16, DType::fp32, DType::bf16};
template <> constexpr Dtypes dtypes_of<stranger::LeanBf16>{DType::bf16, DType::fp32, DType::bf16};
template <> constexpr Dtypes dtypes_of<precision::Fp16Mixed>{DType::fp16, DType::fp32, DType::fp32};

/// What lies in a buffer: its bytes as numbers of the dtype that the view says.
struct Stored {
  DType dtype;
  Values values;
  explicit Stored(View view) : dtype(view.dtype), values(values_of(view)) {}
};
using StoredByName = std::map<std::string, Stored>;

/// The flat buffers of all ranks after one forward and backward pass.
struct Contents {
  StoredByName activations, params, gradients, state;
};

/// By name, every slice of the activation buffer.
template <class R> std::map<std::string, Slice> slices(const plan::Activations<R>& plan) {
  const auto head = plan.saved(VocabularyHead<R>{}, plan::last_layer<R>);
  std::map<std::string, Slice> slices{{"output", plan.y_MD.back()},
                                      {"dx", plan.dx_MD},
                                      {"head in", head.in_MD},
                                      {"dlogits",
                                       rounds_logits<typename R::precision> ? head.logits_CV : head.dlogits_CV}};
  for (int i = 0; i < plan::n_blocks<R>; ++i) {
    const auto saved = plan.saved(DecoderBlock<R>{}, plan::layer_of_block<R>(i));
    const std::string block = "block " + std::to_string(i) + " ";
    slices[block + "input"] = plan.y_MD[plan::layer_of_block<R>(i) - 1];
    slices[block + "attention in"] = saved.attention.in_MD;
    slices[block + "q, k and v"] = saved.attention.part.qkv_M;
    slices[block + "normalised q and k"] = saved.attention.part.qk_M;
    slices[block + "attention out"] = saved.attention.part.attended_MQ;
    slices[block + "middle"] = saved.middle_MD;
    slices[block + "mlp in"] = saved.mlp.in_MD;
    slices[block + "up"] = saved.mlp.part.up_MG;
    slices[block + "activated"] = saved.mlp.part.activated_MF;
  }
  Layout layout{plan.temporary.offset};
  const typename DecoderBlock<R>::Temporary temporaries(layout, plan.n_tokens);
  slices["dqkv"] = temporaries.parts.attention.dqkv_M;
  slices["dattention"] = temporaries.parts.attention.dattended_MQ;
  slices["dropped"] = temporaries.dresult_MD;
  std::erase_if(slices, [](const auto& named) { return !named.second.present(); });
  return slices;
}

template <Recipe R> Contents contents(int ranks, double loss_scale) {
  constexpr bool unsharded_units_stay = !R::sharding::splits_parameters;
  Contents contents;
  std::mutex mutex;
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), R::precision::reduce_dtype);
    train::Step<R> step(*communicator, 1, 3);
    const auto& state = step.state();
    set_loss_scale(step, loss_scale);
    accumulate(step, sequences.from(world.rank(), R::model.context_length), 1, {});
    gradient_norm(step);  // waits for the gradients
    const std::lock_guard lock(mutex);
    const std::string rank = "rank " + std::to_string(world.rank()) + " ";
    for (const auto& [name, slice] : slices(state.activations.plan()))
      contents.activations.emplace(rank + name, state.activations[slice]);
    for (int u = 0; u < plan::n_units<R>; ++u) {
      const std::string unit = rank + "unit " + std::to_string(u);
      contents.params.emplace(unit + " own", state.parameters.shard(u));
      if (unsharded_units_stay) contents.params.emplace(unit + " whole", state.parameters.whole(u));
      contents.gradients.emplace(unit + " own", state.gradients.shard(u));
    }
    for (const auto& tensors : {step.parameters(), step.optimizer_state()})
      for (const train::StateTensor& tensor : tensors) contents.state.emplace(rank + tensor.name, tensor.view);
  });
  return contents;
}

Values rounded(const Values& values, DType dtype) {
  std::vector<std::byte> memory(values.size() * size_of(dtype));
  const View view(memory.data(), dtype, {1, std::ssize(values)});
  assign(view, values);
  return values_of(view);
}

/// More than bf16 could hold is there in most of the values.
bool finer_than_bf16(const Values& values) {
  const auto finer = std::ranges::count_if(values, [](double x) {
    return (std::bit_cast<std::uint32_t>(static_cast<float>(x)) & 0xFFFFu) != 0;
  });
  const auto zeros = std::ranges::count(values, 0.0);
  return 2 * finer > std::ssize(values) - zeros;
}

/// @param is_like (what lies there, what lies there in fp32)
template <class F> void check_stored(const StoredByName& actual, const StoredByName& exact, DType dtype, F is_like) {
  for (const auto& [name, stored] : actual) {
    CAPTURE(name);
    CHECK(stored.dtype == dtype);
    if (exact.contains(name)) CHECK(is_like(stored.values, exact.at(name).values));
  }
  for (const auto& [name, stored] : exact) CHECK(actual.contains(name));
}

template <class R, class Precision> void check_storage(const Contents& exact, int ranks, double loss_scale) {
  CAPTURE(monomorph::type_name<Precision>(), monomorph::type_name<typename R::sharding>(), ranks);
  constexpr Dtypes dtypes = dtypes_of<Precision>;
  const Contents narrow = contents<In<R, Precision>>(ranks, loss_scale);
  const auto similar = [](const Values& a, const Values& b) { return cosine(a, b) > 0.995; };
  check_stored(narrow.activations, exact.activations, dtypes.compute, similar);
  check_stored(narrow.gradients, exact.gradients, dtypes.gradients,
               [&](const Values& a, const Values& b) { return similar(a, b) && finer_than_bf16(a); });
  const auto is_rounded = [](DType dtype) {
    return [=](const Values& a, const Values& b) { return a == rounded(b, dtype); };
  };
  check_stored(narrow.params, exact.params, dtypes.compute, is_rounded(dtypes.compute));
  check_stored(narrow.state, exact.state, dtypes.state, is_rounded(dtypes.state));

  // The plan is the arena, to the byte; by hand in fp32 in unit/plan/memory_test.cpp.
  const plan::Memory plan = plan::memory<In<R, Precision>>(ranks, 1),
                     fp32 = plan::memory<In<R, precision::Fp32>>(ranks, 1);
  const plan::Activations<In<R, Precision>> activations(1);
  std::int64_t listed = 0;
  for (const auto& [name, slice] : slices(activations)) listed += align_up(slice.shape.elements());
  CHECK(plan.activations == size_of(dtypes.compute) * listed);
  const Shape CV = activations.saved(VocabularyHead<In<R, Precision>>{}, plan::last_layer<R>).logits_CV.shape;
  CHECK(2 * plan.activations == fp32.activations + 4 * align_up(CV.elements()));
  constexpr int logits_bytes = rounds_logits<Precision> ? 0 : 4;
  CHECK(plan.statistics == fp32.statistics - (4 - logits_bytes) * align_up(CV.elements()));
  CHECK(2 * plan.gathered_params == fp32.gathered_params);
  CHECK(plan.gradients == fp32.gradients);
  CHECK(plan.gathered_gradients == fp32.gathered_gradients);
  CHECK(plan.optimizer_state * 4 == fp32.optimizer_state * size_of(dtypes.state));
  // A copy of its own, or else what compute reads, of which fp32 has as many.
  constexpr bool copy = keeps_master_copy<Precision>;
  const std::int64_t parts = plan::Shards<In<R, Precision>>(ranks).tree_buffer.elements;
  CHECK(plan.master == (copy ? parts * size_of(dtypes.state) : fp32.master * size_of(dtypes.state) / 4));
}

template <class R> void check_storage_of_all(int ranks) {
  const Contents exact = contents<In<R, precision::Fp32>>(ranks, 1);
  check_storage<R, precision::Bf16Mixed>(exact, ranks, 1);
  check_storage<R, precision::Bf16Pure>(exact, ranks, 1);
  check_storage<R, precision::Fp16Mixed>(exact, ranks, 256);
  check_storage<R, precision::NarrowLogits<precision::Bf16Mixed>>(exact, ranks, 1);
  check_storage<R, stranger::LeanBf16>(exact, ranks, 1);
}

struct Undropped : llama_like {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = llama_like::model;
    model.dropout = {};
    return model;
  }();
};
struct HeadPass {
  Values in, weight, dweight;
  std::vector<std::int32_t> targets;
  double loss = 0, evaluated = 0;
};

/// What the head makes of two sequences. Backward overwrites what it reads, an evaluation does not.
template <class Precision> HeadPass head_pass() {
  using R = In<Undropped, Precision>;
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3);
  const train::MicroBatch batch = sequences.from(0, R::model.context_length);
  HeadPass pass;
  pass.targets.assign(batch.targets, batch.targets + 2 * R::model.context_length);
  pass.evaluated = step.evaluate(batch).loss;
  const auto& activations = step.state().activations;
  pass.in = values_of(activations[activations.plan().saved(VocabularyHead<R>{}, plan::last_layer<R>).in_MD]);
  pass.weight = rounded(values_of(step.parameters()).at("head.weight"), DType::bf16);
  pass.loss = accumulate(step, batch, 1, {}).loss;
  pass.dweight = values_of(step.gradients()).at("head.weight");
  return pass;
}

}  // namespace

TEST_CASE("activations, parameters, gradients and state lie in memory in the precision's dtypes, on every rank") {
  check_storage_of_all<Sharded<gpt2_like, sharding::ShardGradOp>>(2);
  check_storage_of_all<Sharded<llama_like, sharding::HybridShard<2>>>(4);
}

TEST_CASE("narrow precisions give fp32's loss and gradients but for their rounding") {
  check_near_fp32<gpt2_like, precision::Bf16Mixed>(0.05, 1);
  check_near_fp32<llama_like, precision::Bf16Mixed>(0.05, 1);
  check_near_fp32<gpt2_like, precision::Bf16Pure>(0.05, 1);
  check_near_fp32<llama_like, precision::Bf16Pure>(0.05, 1);
  check_near_fp32<gpt2_like, precision::Fp16Mixed>(0.008, 256);
  check_near_fp32<llama_like, precision::Fp16Mixed>(0.008, 256);
  check_near_fp32<gpt2_like, precision::NarrowLogits<precision::Bf16Mixed>>(0.05, 1);
  check_near_fp32<llama_like, precision::NarrowLogits<precision::Fp16Mixed>>(0.008, 256);
}

TEST_CASE(
    "a stranger's precision gives fp32's gradients but for its rounding, and its equal's bits where it differs not") {
  check_near_fp32<llama_like, stranger::LeanBf16>(0.05, 1);
  const Pass lean = one_pass<In<llama_like, stranger::LeanBf16>>(1),
             pure = one_pass<In<llama_like, precision::Bf16Pure>>(1);  // but for what goes between ranks
  CHECK(lean.loss == pure.loss);
  CHECK(lean.gradients == pure.gradients);
}

TEST_CASE("logits of 16 bits are rounded, and their gradients, as autograd has it under autocast") {
  const HeadPass narrow = head_pass<precision::NarrowLogits<precision::Bf16Mixed>>();
  const ReferenceHead expected = reference_head_of_bf16_logits(narrow.in, narrow.weight, narrow.targets);
  CHECK(narrow.loss == Approx(expected.loss).epsilon(1e-5));
  CHECK(narrow.evaluated == narrow.loss);
  const double error = relative_error(narrow.dweight, expected.dweight);
  CHECK(error < 2e-4);
  const HeadPass wide = head_pass<precision::Bf16Mixed>();
  CHECK(wide.in == narrow.in);
  CHECK(relative_error(wide.dweight, expected.dweight) > 2 * error);
}

TEST_CASE("a scaled loss has scaled gradients, to the bit where nothing is rounded") {
  const Pass plain = one_pass<In<gpt2_like, precision::Fp32>>(1), scaled = one_pass<In<gpt2_like, precision::Fp32>>(64);
  CHECK(plain.loss == scaled.loss);
  CHECK(plain.gradients == scaled.gradients);
}

}  // namespace monomorph::testing
