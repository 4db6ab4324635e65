#include "runtime/cuda/host/run_inputs.hpp"

#include <monomorph/runtime/cuda/recording.hpp>

#include <utility>

namespace monomorph::cuda {
namespace {

/// What a stream was given while it recorded.
class Captured {
 public:
  explicit Captured(cudaStream_t stream) { check(cudaStreamEndCapture(stream, &graph_), "recording a step"); }
  Captured(const Captured&) = delete;
  ~Captured() { cudaGraphDestroy(graph_); }
  cudaGraph_t graph() const { return graph_; }

 private:
  cudaGraph_t graph_ = nullptr;
};

}  // namespace

struct Recording::Graph {
  Queue queue;
  RunInputs inputs;
  cudaGraphExec_t runs = nullptr;

  Graph(Queue of, std::int64_t input_bytes) : queue(of), inputs(of, input_bytes) {}
  ~Graph() {
    if (runs != nullptr) cudaGraphExecDestroy(runs);
  }

  /// What differs from an earlier recording in arguments alone takes its place, which costs less than to make it anew.
  void take(cudaGraph_t graph) {
    cudaGraphExecUpdateResultInfo result{};
    if (runs != nullptr && cudaGraphExecUpdate(runs, graph, &result) == cudaSuccess) return;
    if (runs != nullptr) check(cudaGraphExecDestroy(std::exchange(runs, nullptr)), "forgetting a recorded step");
    // Collectives go before kernels, as on their streams (communication_stream.cpp), which a graph forgets otherwise.
    check(cudaGraphInstantiate(&runs, graph, cudaGraphInstantiateFlagUseNodePriority), "making a recorded step");
  }
};

Recording::Recording(Queue queue, std::int64_t input_bytes) : graph_(make_owned<Graph>(queue, input_bytes)) {}
Recording::~Recording() = default;

/// Other threads of the process, which look after collectives, may ask for events meanwhile.
void Recording::begin() {
  check(cudaStreamBeginCapture(graph_->queue.stream, cudaStreamCaptureModeThreadLocal), "recording a step");
  graph_->inputs.begin();
}

void Recording::end() {
  graph_->inputs.end();
  graph_->take(Captured(graph_->queue.stream).graph());
}

void Recording::abandon() noexcept {
  graph_->inputs.end();
  cudaGraph_t graph = nullptr;
  if (cudaStreamEndCapture(graph_->queue.stream, &graph) == cudaSuccess) cudaGraphDestroy(graph);
}

void Recording::run() {
  graph_->inputs.send();
  check(cudaGraphLaunch(graph_->runs, graph_->queue.stream), "starting a recorded step");
}

}  // namespace monomorph::cuda
