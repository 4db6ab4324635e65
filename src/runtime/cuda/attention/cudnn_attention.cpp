#include "runtime/cuda/attention/cudnn_attention.hpp"
#include <cudnn_frontend.h>
#include <dlfcn.h>
#include <array>
#include <compare>
#include <map>
#include <memory>
#include <monomorph/core/error.hpp>
#include <monomorph/device/cuda.hpp>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>
#include "runtime/cuda/attention/attention_band.hpp"
#include "runtime/cuda/attention/attention_pieces.hpp"
#include "runtime/cuda/host/staging.hpp"

/// The only file that includes cuDNN's front end, which takes a minute to compile. Legend: B sequences of T tokens, N
/// query heads of H features.
/// Where the front end looks for cuDNN's functions: a program begins without the library, and one that computes no such
/// attention does not need it.
void* cudnn_frontend::cudnn_dlhandle = nullptr;

namespace monomorph::cuda {
namespace {

namespace fe = cudnn_frontend;

constexpr std::int64_t access = 16;  ///< bytes: cuDNN wants each row to begin at a multiple

void check(bool good, const std::string& reason) {
  if (good) return;
  const std::string line = reason.substr(0, reason.find('\n'));
  throw Error("GPU-01",
              "cuDNN does not compute this attention (" + line + "); check that it is cuDNN 9 and knows the GPU");
}
void check(fe::error_t status) { check(status.is_good(), status.get_message()); }
void check(cudnnStatus_t status) { check(status == CUDNN_STATUS_SUCCESS, fe::detail::get_error_string(status)); }

cudnnHandle_t start_cudnn() {
  fe::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (fe::cudnn_dlhandle == nullptr) check(false, dlerror());
  cudnnHandle_t handle = nullptr;
  check(fe::detail::create_handle(&handle));
  return handle;
}

enum class Direction { forward, backward };
/// Tensors of a plan. cuDNN finds their addresses by these numbers.
enum Operand : std::int64_t { q_id = 1, k_id, v_id, out_id, lse_id, dout_id, dq_id, dk_id, dv_id, operands_end };

/// What a plan depends on: all but addresses.
struct PlanKey {
  Direction direction;
  DType dtype;
  std::int64_t batch, tokens, heads, kv_heads, head_dim;
  double scale;
  AttentionBand band;
  std::array<std::int64_t, operands_end> strides;  ///< between rows, by operand
  auto operator<=>(const PlanKey&) const = default;
};

PlanKey key_of(Direction direction, const AttentionCall& call) {
  const AttentionShape& s = call.shape;
  PlanKey key{direction,  call.q.dtype, s.batch,
              s.tokens,   s.heads,      s.kv_heads,
              s.head_dim, s.scale,      *band_of(call.mask, s.tokens),
              {}};
  const View* views[] = {&call.q, &call.k, &call.v, &call.out, &call.lse_BNT, &call.dout, &call.dq, &call.dk, &call.dv};
  for (std::int64_t id = q_id; id < operands_end; ++id) key.strides[id] = views[id - q_id]->stride;
  return key;
}

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// Describes the operands of one plan to cuDNN.
class Operands {
 public:
  Operands(const PlanKey& key, fe::graph::Graph& graph) : key_(key), graph_(graph) {}
  Tensor queries(Operand id) { return graph_.tensor(described(fe::graph::Tensor_attributes(), id, key_.heads)); }
  Tensor keys(Operand id) { return graph_.tensor(described(fe::graph::Tensor_attributes(), id, key_.kv_heads)); }
  Tensor lse() { return graph_.tensor(described_lse(fe::graph::Tensor_attributes())); }
  void write_queries(Tensor& tensor, Operand id) { described(*tensor, id, key_.heads).set_output(true); }
  void write_keys(Tensor& tensor, Operand id) { described(*tensor, id, key_.kv_heads).set_output(true); }
  void write_lse(Tensor& tensor) { described_lse(*tensor).set_output(true); }

 private:
  /// (B, heads, T, H) as it lies: heads are side by side in a row.
  template <class T> T&& described(T&& tensor, Operand id, std::int64_t heads) {
    const std::int64_t row = key_.strides[id];
    tensor.set_uid(id).set_dim({key_.batch, heads, key_.tokens, key_.head_dim});
    tensor.set_stride({key_.tokens * row, key_.head_dim, row, 1});
    return std::forward<T>(tensor);
  }
  template <class T> T&& described_lse(T&& tensor) {
    tensor.set_uid(lse_id).set_dim({key_.batch, key_.heads, key_.tokens, 1});
    tensor.set_stride({key_.heads * key_.tokens, key_.tokens, 1, 1}).set_data_type(fe::DataType_t::FLOAT);
    return std::forward<T>(tensor);
  }
  const PlanKey& key_;
  fe::graph::Graph& graph_;
};

template <class Attributes> Attributes attributes_of(const PlanKey& key) {
  Attributes attributes;
  attributes.set_attn_scale(static_cast<float>(key.scale));
  attributes.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT);
  if (key.band.left) attributes.set_diagonal_band_left_bound(*key.band.left);
  if (key.band.right) attributes.set_diagonal_band_right_bound(*key.band.right);
  return attributes;
}

void describe_forward(const PlanKey& key, fe::graph::Graph& graph) {
  Operands operands(key, graph);
  auto attributes = attributes_of<fe::graph::SDPA_attributes>(key).set_name("attention").set_generate_stats(true);
  auto [out, lse] = graph.sdpa(operands.queries(q_id), operands.keys(k_id), operands.keys(v_id), attributes);
  operands.write_queries(out, out_id);
  operands.write_lse(lse);
}

void describe_backward(const PlanKey& key, fe::graph::Graph& graph) {
  Operands operands(key, graph);
  auto attributes = attributes_of<fe::graph::SDPA_backward_attributes>(key).set_name("attention_backward");
  attributes.set_deterministic_algorithm(true);
  auto [dq, dk, dv] =
      graph.sdpa_backward(operands.queries(q_id), operands.keys(k_id), operands.keys(v_id), operands.queries(out_id),
                          operands.queries(dout_id), operands.lse(), attributes);
  operands.write_queries(dq, dq_id);
  operands.write_keys(dk, dk_id);
  operands.write_keys(dv, dv_id);
}

std::unique_ptr<fe::graph::Graph> described(const PlanKey& key) {
  auto graph = std::make_unique<fe::graph::Graph>();
  graph->set_io_data_type(key.dtype == DType::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF);
  graph->set_intermediate_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
  (key.direction == Direction::forward ? describe_forward : describe_backward)(key, *graph);
  return graph;
}

struct Plan {
  std::unique_ptr<fe::graph::Graph> graph;
  std::int64_t workspace_bytes = 0;
};

/// The first plan that cuDNN's heuristics name: it is not timed, so a shape has the same bits in every process.
Plan built(std::unique_ptr<fe::graph::Graph> graph, cudnnHandle_t handle) {
  check(graph->validate());
  check(graph->build_operation_graph(handle));
  check(graph->create_execution_plans({fe::HeurMode_t::A}));
  check(graph->check_support());
  check(graph->build_plans());
  const std::int64_t bytes = graph->get_workspace_size();
  return {std::move(graph), bytes};
}

// Before cuDNN 9.25 deterministic gradients take memory for each pair of a query and a key: 4.4 GB for one sequence of
// 8,192 tokens and 32 heads. So they are computed in parts, one after the other, that are large enough for a GPU.
constexpr std::int64_t most_workspace_bytes = device::Cuda::most_attention_workspace_bytes;

/// The plans of this process and the handle they are built with.
class Plans {
 public:
  void run(Queue queue, Direction direction, const AttentionCall& call) {
    const std::lock_guard lock(mutex_);
    if (handle_ == nullptr) handle_ = start_cudnn();
    check(fe::detail::set_stream(handle_, queue.stream));
    run_in_parts(queue, direction, call);
  }

 private:
  const Plan& plan_of(const PlanKey& key) {
    auto found = plans_.find(key);
    if (found == plans_.end()) found = plans_.emplace(key, built(described(key), handle_)).first;
    return found->second;
  }

  void run_in_parts(Queue queue, Direction direction, const AttentionCall& call) {
    const Plan& plan = plan_of(key_of(direction, call));
    const std::int64_t parts = (plan.workspace_bytes + most_workspace_bytes - 1) / most_workspace_bytes;
    const auto& [batch, tokens, heads, kv_heads, features, scale] = call.shape;
    const bool lse_begins_accesses = tokens * size_of(DType::fp32) % access == 0;
    if (parts <= 1 || !lse_begins_accesses || (batch == 1 && kv_heads == 1)) return execute(queue, plan, call);
    const auto part_of = batch > 1 ? samples_of : heads_of;
    const std::int64_t all = batch > 1 ? batch : kv_heads, size = even_piece(all, parts);
    for (std::int64_t i = 0; i < all; i += size) run_in_parts(queue, direction, part_of(call, i, size));
  }

  void execute(Queue queue, const Plan& plan, const AttentionCall& call) {
    std::unordered_map<std::int64_t, void*> addresses{{q_id, call.q.data},
                                                      {k_id, call.k.data},
                                                      {v_id, call.v.data},
                                                      {out_id, call.out.data},
                                                      {lse_id, call.lse_BNT.data}};
    if (call.dout.data != nullptr)
      addresses.insert(
          {{dout_id, call.dout.data}, {dq_id, call.dq.data}, {dk_id, call.dk.data}, {dv_id, call.dv.data}});
    void* scratch = plan.workspace_bytes > 0 ? workspace(queue, plan.workspace_bytes) : nullptr;
    check(plan.graph->execute(handle_, addresses, scratch));
  }

  std::mutex mutex_;
  cudnnHandle_t handle_ = nullptr;
  std::map<PlanKey, Plan> plans_;
};

/// Never destroyed: CUDA may have gone before it when the process ends.
Plans& plans() {
  static Plans& plans = *new Plans;
  return plans;
}

// What cuDNN takes.

constexpr std::int64_t access_elements = 8, most_features = 128;

bool rows_begin_accesses(const View& x) {
  return x.stride % access_elements == 0 && reinterpret_cast<std::uintptr_t>(x.data) % access == 0;
}

bool operands_fit(const AttentionCall& call) {
  for (const View& x : {call.q, call.k, call.v, call.out, call.dout, call.dq, call.dk, call.dv})
    if (x.data != nullptr && (x.dtype != call.q.dtype || !rows_begin_accesses(x))) return false;
  return call.lse_BNT.dtype == DType::fp32 && call.lse_BNT.stride == call.shape.tokens;
}

}  // namespace

bool cudnn_takes(const AttentionCall& call) {
  const bool narrow = call.q.dtype == DType::bf16 || call.q.dtype == DType::fp16;
  const bool features = call.shape.head_dim % access_elements == 0 && call.shape.head_dim <= most_features;
  const bool mask = call.document_starts == nullptr && band_of(call.mask, call.shape.tokens).has_value();
  // cuDNN has no gradients of a row of one token.
  return call.shape.tokens > 1 && narrow && features && mask && operands_fit(call);
}

void cudnn_attention(Queue queue, const AttentionCall& call) { plans().run(queue, Direction::forward, call); }
void cudnn_attention_backward(Queue queue, const AttentionCall& call) { plans().run(queue, Direction::backward, call); }

}  // namespace monomorph::cuda
