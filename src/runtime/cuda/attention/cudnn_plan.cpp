#include "runtime/cuda/attention/cudnn_plan.hpp"
#include <cudnn_frontend.h>
#include <dlfcn.h>
#include <monomorph/core/error.hpp>
#include <unordered_map>
#include <vector>
#include "runtime/cuda/host/staging.hpp"

/// The only file that includes cuDNN's front end, which takes a minute to compile.
/// Where the front end looks for cuDNN's functions: a program begins without the library, and one that computes no such
/// attention does not need it.
void* cudnn_frontend::cudnn_dlhandle = nullptr;

namespace monomorph::cuda {
namespace {

namespace fe = cudnn_frontend;

void check(bool good, const std::string& reason) {
  if (good) return;
  const std::string line = reason.substr(0, reason.find('\n'));
  throw Error("GPU-01",
              "cuDNN does not compute this attention (" + line + "); check that it is cuDNN 9 and knows the GPU");
}
void check(fe::error_t status) { check(status.is_good(), status.get_message()); }
void check(cudnnStatus_t status) { check(status == CUDNN_STATUS_SUCCESS, fe::detail::get_error_string(status)); }

void open_cudnn() {
  if (fe::cudnn_dlhandle == nullptr) fe::cudnn_dlhandle = dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (fe::cudnn_dlhandle == nullptr) check(false, dlerror());
}

/// For this process's GPU. Never destroyed: CUDA may have gone before it when the process ends.
cudnnHandle_t handle() {
  static const cudnnHandle_t of_process = [] {
    open_cudnn();
    cudnnHandle_t created = nullptr;
    check(fe::detail::create_handle(&created));
    return created;
  }();
  return of_process;
}

using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// Describes the operands of one plan to cuDNN.
class Operands {
 public:
  Operands(const CudnnPlanKey& key, fe::graph::Graph& graph) : key_(key), graph_(graph) {}
  Tensor queries(CudnnOperand id) { return graph_.tensor(described(fe::graph::Tensor_attributes(), id, key_.heads)); }
  Tensor keys(CudnnOperand id) { return graph_.tensor(described(fe::graph::Tensor_attributes(), id, key_.kv_heads)); }
  Tensor lse() { return graph_.tensor(described_lse(fe::graph::Tensor_attributes())); }
  void write_queries(Tensor& tensor, CudnnOperand id) { described(*tensor, id, key_.heads).set_output(true); }
  void write_keys(Tensor& tensor, CudnnOperand id) { described(*tensor, id, key_.kv_heads).set_output(true); }
  void write_lse(Tensor& tensor) { described_lse(*tensor).set_output(true); }

 private:
  /// (B, heads, T, H) as it lies: heads are side by side in a row.
  template <class T> T&& described(T&& tensor, CudnnOperand id, std::int64_t heads) {
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
  const CudnnPlanKey& key_;
  fe::graph::Graph& graph_;
};

template <class Attributes> Attributes attributes_of(const CudnnPlanKey& key) {
  Attributes attributes;
  attributes.set_attn_scale(static_cast<float>(key.scale));
  attributes.set_diagonal_alignment(fe::DiagonalAlignment_t::TOP_LEFT);
  if (key.band.left) attributes.set_diagonal_band_left_bound(*key.band.left);
  if (key.band.right) attributes.set_diagonal_band_right_bound(*key.band.right);
  return attributes;
}

void describe_forward(const CudnnPlanKey& key, fe::graph::Graph& graph) {
  Operands operands(key, graph);
  auto attributes = attributes_of<fe::graph::SDPA_attributes>(key).set_name("attention").set_generate_stats(true);
  auto [out, lse] = graph.sdpa(operands.queries(q_id), operands.keys(k_id), operands.keys(v_id), attributes);
  operands.write_queries(out, out_id);
  operands.write_lse(lse);
}

void describe_backward(const CudnnPlanKey& key, fe::graph::Graph& graph) {
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

std::shared_ptr<const fe::DeviceProperties> properties_of(const DescribedGpu& gpu) {
  auto properties = std::make_shared<fe::DeviceProperties>();
  check(properties->deserialize({gpu.properties.begin(), gpu.properties.end()}));
  return properties;
}

/// @param gpu null: this process's
std::unique_ptr<fe::graph::Graph> described(const CudnnPlanKey& key, const DescribedGpu* gpu) {
  auto graph = std::make_unique<fe::graph::Graph>();
  // What is added to a graph asks at once for which GPU it is.
  if (gpu != nullptr) graph->set_device_properties(properties_of(*gpu)).set_sm_version(gpu->sm);
  graph->set_io_data_type(key.dtype == DType::bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF);
  graph->set_intermediate_data_type(fe::DataType_t::FLOAT).set_compute_data_type(fe::DataType_t::FLOAT);
  (key.direction == Direction::forward ? describe_forward : describe_backward)(key, *graph);
  return graph;
}

/// @param handle of the GPU, or none where the graph knows another one's properties
void build(fe::graph::Graph& graph, cudnnHandle_t handle) {
  check(graph.validate());
  check(handle == nullptr ? graph.build_operation_graph() : graph.build_operation_graph(handle));
  check(graph.create_execution_plans({fe::HeurMode_t::A}));
  check(graph.check_support());
  check(graph.build_plans());
}

}  // namespace

struct CudnnPlan::Parts {
  std::unique_ptr<fe::graph::Graph> graph;
};

CudnnPlan::CudnnPlan(const CudnnPlanKey& key) : parts_(std::make_unique<Parts>()) {
  const cudnnHandle_t of_process = handle();
  parts_->graph = described(key, nullptr);
  build(*parts_->graph, of_process);
  workspace_bytes_ = parts_->graph->get_workspace_size();
}
CudnnPlan::CudnnPlan(const CudnnPlanKey& key, const DescribedGpu& gpu) : parts_(std::make_unique<Parts>()) {
  open_cudnn();
  parts_->graph = described(key, &gpu);
  build(*parts_->graph, nullptr);
  workspace_bytes_ = parts_->graph->get_workspace_size();
}
CudnnPlan::CudnnPlan(CudnnPlan&&) noexcept = default;
CudnnPlan::~CudnnPlan() = default;

void CudnnPlan::run(Queue queue, const AttentionCall& call) const {
  std::unordered_map<std::int64_t, void*> addresses{{q_id, call.q.data},
                                                    {k_id, call.k.data},
                                                    {v_id, call.v.data},
                                                    {out_id, call.out.data},
                                                    {lse_id, call.lse_BNT.data}};
  if (call.dout.data != nullptr)
    addresses.insert({{dout_id, call.dout.data}, {dq_id, call.dq.data}, {dk_id, call.dk.data}, {dv_id, call.dv.data}});
  void* scratch = workspace_bytes_ > 0 ? workspace(queue, workspace_bytes_) : nullptr;
  check(fe::detail::set_stream(handle(), queue.stream));
  check(parts_->graph->execute(handle(), addresses, scratch));
}

std::size_t CudnnPlan::cudnn_version() {
  open_cudnn();
  return fe::detail::get_backend_version();
}

}  // namespace monomorph::cuda
