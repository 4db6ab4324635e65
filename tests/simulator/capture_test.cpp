// Graphs on the simulated GPU: what a capture takes and refuses, and in which orders a launch runs what was captured.
#include <cuda_runtime_api.h>

#include <functional>
#include <set>
#include <string>
#include <thread>

#include "simulator/simulator.hpp"
#include "support/catch.hpp"

namespace monomorph::simulator {
namespace {

using Order = Schedule::Order;

Simulator& gpu() { return Simulator::the(); }

/// Two streams, of which the second one waits for the first one and then the first one for it, by events.
class Captured {
 public:
  cudaStream_t first = nullptr, second = nullptr;
  cudaEvent_t forked = nullptr, joined = nullptr;
  std::string ran;

  explicit Captured(const Schedule& schedule = {}) {
    gpu().set_schedule(schedule);
    for (cudaStream_t* const stream : {&first, &second}) cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking);
    for (cudaEvent_t* const event : {&forked, &joined}) cudaEventCreateWithFlags(event, cudaEventDisableTiming);
  }
  Captured(const Captured&) = delete;
  ~Captured() {
    gpu().finish();
    if (launchable_ != nullptr) cudaGraphExecDestroy(launchable_);
    for (const cudaEvent_t event : {forked, joined}) cudaEventDestroy(event);
    for (const cudaStream_t stream : {second, first}) cudaStreamDestroy(stream);
    gpu().set_schedule({});
    gpu().take_races();
  }

  void give(cudaStream_t stream, char name) {
    gpu().give(stream, "test", [this, name] { ran += name; });
  }
  cudaError_t begin(cudaStreamCaptureMode mode = cudaStreamCaptureModeThreadLocal) {
    return cudaStreamBeginCapture(first, mode);
  }
  void fork() {
    cudaEventRecord(forked, first);
    cudaStreamWaitEvent(second, forked, 0);
  }
  void join() {
    cudaEventRecord(joined, second);
    cudaStreamWaitEvent(first, joined, 0);
  }
  cudaError_t end() {
    cudaGraph_t graph = nullptr;
    const cudaError_t status = cudaStreamEndCapture(first, &graph);
    if (status != cudaSuccess) {
      CHECK(graph == nullptr);
      return status;
    }
    CHECK(cudaGraphInstantiate(&launchable_, graph, 0) == cudaSuccess);
    return cudaGraphDestroy(graph);
  }
  cudaGraphExec_t launchable() const { return launchable_; }

  /// a b | fork | 1 2 beside c | join | d
  void capture_all() {
    begin();
    for (const char name : {'a', 'b'}) give(first, name);
    fork();
    for (const char name : {'1', '2'}) give(second, name);
    give(first, 'c');
    join();
    give(first, 'd');
    CHECK(end() == cudaSuccess);
  }

 private:
  cudaGraphExec_t launchable_ = nullptr;
};

/// The status of the end of a capture in which something is done.
cudaError_t end_of_capture(const std::function<cudaError_t(Captured&)>& something, cudaError_t expected) {
  Captured c;
  CHECK(c.begin() == cudaSuccess);
  CHECK(something(c) == expected);
  return c.end();
}

}  // namespace

TEST_CASE("what is captured does not run before it is launched, and then as often as that is") {
  Captured c;
  c.capture_all();
  gpu().finish();
  CHECK(c.ran.empty());
  c.give(c.first, '<');
  CHECK(cudaGraphLaunch(c.launchable(), c.first) == cudaSuccess);
  c.give(c.first, '>');
  CHECK(cudaGraphLaunch(c.launchable(), c.first) == cudaSuccess);
  CHECK(cudaStreamSynchronize(c.first) == cudaSuccess);
  CHECK(c.ran == "<abc12d>abc12d");
}

TEST_CASE("branches of a graph run in all orders that its waits allow, and one launch behind the other") {
  std::set<std::string> orders;
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    Captured c({Order::random, seed});
    c.capture_all();
    cudaGraphLaunch(c.launchable(), c.first);
    c.give(c.first, '|');
    cudaGraphLaunch(c.launchable(), c.first);
    cudaStreamSynchronize(c.first);
    orders.insert(c.ran.substr(0, c.ran.find('|')));
    CHECK(c.ran.size() == 13);
    CHECK(c.ran.find('|') == 6);
  }
  CHECK(orders == std::set<std::string>{"abc12d", "ab1c2d", "ab12cd"});
}

TEST_CASE("branches of a graph that use the same memory are a race unless one waits for the other") {
  const auto races_of_branches = [](bool waits) {
    Captured c;
    void* memory = nullptr;
    cudaMalloc(&memory, 256);
    c.begin();
    c.fork();
    cudaMemsetAsync(memory, 1, 64, c.second);
    if (waits) c.join();
    cudaMemsetAsync(memory, 2, 64, c.first);
    if (!waits) c.join();
    CHECK(c.end() == cudaSuccess);
    cudaGraphLaunch(c.launchable(), c.first);
    cudaStreamSynchronize(c.first);
    cudaFree(memory);
    return gpu().take_races();
  };
  CHECK(races_of_branches(true).empty());
  CHECK(races_of_branches(false).size() == 1);
}

TEST_CASE("streams that were captured know nothing of what a launch of the graph does") {
  Captured c;
  void* memory = nullptr;
  cudaMalloc(&memory, 256);
  c.begin();
  c.fork();
  cudaMemsetAsync(memory, 1, 64, c.second);
  c.join();
  CHECK(c.end() == cudaSuccess);
  cudaGraphLaunch(c.launchable(), c.first);
  cudaMemsetAsync(memory, 2, 64, c.second);
  cudaStreamSynchronize(c.first);
  cudaStreamSynchronize(c.second);
  CHECK(gpu().take_races().size() == 1);
  cudaFree(memory);
}

TEST_CASE("what waits for the GPU or changes its memory ends a capture") {
  const cudaError_t refused = cudaErrorStreamCaptureUnsupported, ended = cudaErrorStreamCaptureInvalidated;
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 64) == cudaSuccess);
  void* none = nullptr;
  int on_stack = 0;
  CHECK(end_of_capture([&](Captured&) { return cudaMalloc(&none, 1); }, refused) == ended);
  CHECK(end_of_capture([&](Captured&) { return cudaMallocHost(&none, 1); }, refused) == ended);
  CHECK(end_of_capture([&](Captured&) { return cudaFree(memory); }, refused) == ended);
  CHECK(end_of_capture([](Captured& c) { return cudaStreamSynchronize(c.first); }, refused) == ended);
  CHECK(end_of_capture([](Captured& c) { return cudaEventSynchronize(c.joined); }, refused) == ended);
  CHECK(end_of_capture([](Captured& c) { return cudaEventQuery(c.joined); }, refused) == ended);
  CHECK(
      end_of_capture(
          [&](Captured& c) { return cudaMemcpyAsync(memory, &on_stack, sizeof on_stack, cudaMemcpyDefault, c.first); },
          refused) == ended);
  CHECK(none == nullptr);
  CHECK(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("no dependency leads into a capture or out of it") {
  Captured c;
  c.give(c.second, 'x');
  cudaEventRecord(c.joined, c.second);
  c.begin();
  CHECK(cudaStreamWaitEvent(c.first, c.joined, 0) == cudaErrorStreamCaptureIsolation);
  CHECK(c.end() == cudaErrorStreamCaptureInvalidated);
  c.begin();
  cudaEventRecord(c.forked, c.first);
  CHECK(cudaEventQuery(c.forked) == cudaErrorCapturedEvent);
  CHECK(cudaEventSynchronize(c.forked) == cudaErrorCapturedEvent);
  CHECK(c.end() == cudaSuccess);
  CHECK(cudaStreamWaitEvent(c.second, c.forked, 0) == cudaErrorCapturedEvent);
  cudaEventRecord(c.forked, c.first);  // outside it is an event as any other
  CHECK(cudaStreamWaitEvent(c.second, c.forked, 0) == cudaSuccess);
}

TEST_CASE("a capture ends where it began, when the stream that began it has waited for all others") {
  CHECK(end_of_capture(
            [](Captured& c) {
              c.fork();
              c.give(c.second, '1');
              return cudaSuccess;
            },
            cudaSuccess) == cudaErrorStreamCaptureUnjoined);
  CHECK(end_of_capture(
            [](Captured& c) {
              c.fork();
              c.give(c.second, '1');
              c.join();
              c.give(c.second, '2');
              return cudaSuccess;
            },
            cudaSuccess) == cudaErrorStreamCaptureUnjoined);
  Captured c;
  c.begin();
  c.fork();
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(c.second, &graph) == cudaErrorStreamCaptureUnmatched);
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = cudaStreamEndCapture(c.first, &graph); }).join();
  CHECK(elsewhere == cudaErrorStreamCaptureWrongThread);
  CHECK(c.end() == cudaSuccess);
  CHECK(cudaStreamEndCapture(c.first, &graph) == cudaErrorStreamCaptureUnmatched);
}

TEST_CASE("other threads may ask for events while one captures by itself, and may not while it does for all") {
  const auto asked_by_another = [](cudaStreamCaptureMode mode) {
    Captured c;
    c.begin(mode);
    cudaError_t status = cudaSuccess;
    std::thread([&] { status = cudaEventQuery(c.joined); }).join();
    return std::pair(status, c.end());
  };
  CHECK(asked_by_another(cudaStreamCaptureModeThreadLocal) == std::pair(cudaSuccess, cudaSuccess));
  CHECK(asked_by_another(cudaStreamCaptureModeGlobal) ==
        std::pair(cudaErrorStreamCaptureUnsupported, cudaErrorStreamCaptureInvalidated));
}

TEST_CASE("a graph is updated by another one of its form, for the launches that follow") {
  Captured c, other;
  c.capture_all();
  other.begin();
  other.give(other.first, 'x');
  cudaGraph_t graph = nullptr;
  cudaStreamEndCapture(other.first, &graph);
  cudaGraphExecUpdateResultInfo result{};
  CHECK(cudaGraphExecUpdate(c.launchable(), graph, &result) == cudaErrorGraphExecUpdateFailure);
  CHECK(result.result == cudaGraphExecUpdateErrorTopologyChanged);
  cudaGraphExec_t small = nullptr;
  cudaGraphInstantiate(&small, graph, 0);
  cudaGraphDestroy(graph);
  cudaGraphLaunch(small, other.first);
  other.begin();
  other.give(other.first, 'y');
  cudaStreamEndCapture(other.first, &graph);
  CHECK(cudaGraphExecUpdate(small, graph, &result) == cudaSuccess);
  cudaGraphDestroy(graph);
  cudaGraphLaunch(small, other.first);
  cudaStreamSynchronize(other.first);
  CHECK(other.ran == "xy");
  cudaGraphExecDestroy(small);
}

}  // namespace monomorph::simulator
