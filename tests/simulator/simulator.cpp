#include "simulator/simulator.hpp"

#include <monomorph/runtime/machine/kernel_span.hpp>

#include <execinfo.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <span>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

extern "C" const char __executable_start, etext;  // of the linker: where the program's own code lies in memory

namespace monomorph::simulator {
namespace {

/// The address that CUDA's function returns to, and those of the calls around it up to main: libraries lie elsewhere
/// each time.
std::string place_of(const void* caller, std::ptrdiff_t n_calls) {
  std::array<void*, 64> frames{};
  const auto n = static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size())));
  const auto all = std::span(frames).first(n);
  const auto first = std::ranges::find(all, caller);
  const auto is_own = [](const void* frame) { return frame >= &__executable_start && frame < &etext; };
  std::ostringstream text;
  for (auto frame = first; frame != all.end() && frame - first < n_calls && is_own(*frame); ++frame)
    text << (frame == first ? "" : " ") << std::hex << static_cast<const char*>(*frame) - &__executable_start;
  return text.str();
}

void write_operations() {
  std::ofstream(std::getenv("MONOMORPH_SIMULATOR_OPERATIONS")) << Simulator::the().time() << "\n";
}

}  // namespace

Simulator::Simulator() {
  if (const char* const n = std::getenv("MONOMORPH_SIMULATOR_FAULT")) fail_operation(std::atoi(n));
  if (const char* const n = std::getenv("MONOMORPH_SIMULATOR_REFUSAL")) fail_allocation(std::atoi(n));
  if (const char* const n = std::getenv("MONOMORPH_SIMULATOR_REFUSED_KERNEL")) fail_kernel(std::atoi(n));
  if (const char* const n = std::getenv("MONOMORPH_SIMULATOR_GPUS")) n_gpus_ = std::atoi(n);
  if (const char* const n = std::getenv("MONOMORPH_SIMULATOR_CALLS")) calls_of_place_ = std::atoi(n);
  if (std::getenv("MONOMORPH_SIMULATOR_OPERATIONS") != nullptr) std::atexit(write_operations);
}

/// Never destroyed: the backend's own streams and memory live as long as the process.
Simulator& Simulator::the() {
  static Simulator& simulator = *new Simulator;
  return simulator;
}

std::byte* Simulator::allocate(std::size_t bytes, Memory::Kind kind) {
  ++counts_.allocations;
  return allocations_until_failure_-- == 0 ? nullptr : memory_.allocate(bytes, kind);
}

Status Simulator::give(CUstream_st* stream, std::string_view what, std::function<void()> run,
                       std::function<bool()> ready) {
  if (status_ != Status::success) return returned();
  if (stream->capture)
    stream->capture->add(stream, what, std::move(run), std::move(ready));
  else
    streams_.give(stream, what, std::move(run), std::move(ready));
  return returned();
}

Status Simulator::give_moment(CUstream_st* stream, std::shared_ptr<std::uint64_t> moment) {
  ++counts_.moments;
  if (status_ == Status::success) streams_.give_moment(stream, [this, moment] { *moment = time_; });
  return returned();
}

Status Simulator::record(CUevent_st* event, CUstream_st* stream) {
  event->capture = stream->capture;
  if (stream->capture)
    event->mark = stream->capture->record(stream);
  else
    event->place = streams_.end_of(stream);
  return status_;
}

/// No dependency may lead into a capture or out of it: what comes before it and behind it is what its first stream is
/// given.
Status Simulator::hold(CUstream_st* stream, const CUevent_st& event, const void* caller) {
  if (event.capture == nullptr && event.place.stream == nullptr)
    return status_;  // an event that was never recorded holds up nothing
  if (skips_wait(caller, 2, event.capture != nullptr)) return status_;
  if (event.capture && event.capture->has_ended()) return Status::captured_event;
  if (stream->capture && !event.capture) {
    stream->capture->invalidate();
    return Status::capture_isolation;
  }
  if (status_ != Status::success) return returned();
  if (!event.capture) {
    streams_.hold(stream, event.place);
    return returned();
  }
  if (!stream->capture) event.capture->join(stream), stream->capture = event.capture;
  stream->capture->wait(stream, event.mark);
  return returned();
}

bool Simulator::refuses_in_capture() {
  const std::lock_guard lock(capture_mutex_);
  if (!capture_ || !capture_->forbids_here()) return false;
  capture_->invalidate();
  return true;
}

/// There is one at a time, which is all that the backend needs.
Status Simulator::begin_capture(CUstream_st* stream, Capture::Mode mode) {
  if (status_ != Status::success) return status_;
  const std::lock_guard lock(capture_mutex_);
  if (capture_) return Status::capture_merge;
  capture_ = stream->capture = std::make_shared<Capture>(stream, mode);
  stream->branch = 0;
  return Status::success;
}

Status Simulator::end_capture(CUstream_st* stream, Graph& graph) {
  if (!stream->capture || stream->capture->origin() != stream) return Status::capture_unmatched;
  if (!stream->capture->is_of_this_thread()) return Status::capture_wrong_thread;
  const std::lock_guard lock(capture_mutex_);
  if (captures_to_refuse_ > 0) --captures_to_refuse_, capture_->invalidate();
  const auto end = capture_->end(graph);
  for (CUstream_st* const each : std::vector(capture_->streams())) each->capture = nullptr;
  capture_ = nullptr;
  if (end == Capture::End::unjoined) return Status::capture_unjoined;
  return end == Capture::End::invalidated ? Status::capture_invalidated : status_.load();
}

CUstream_st* Simulator::stream_of_branch(std::size_t branch) {
  while (branches_.size() < branch) branches_.push_back(streams_.open());
  return branches_[branch - 1];
}

/// Its first branch is the stream's, in its turn there. The others are ordered with that by the graph's own waits, and
/// by nothing with the streams that were captured.
Status Simulator::launch(const Graph& graph, CUstream_st* stream) {
  ++counts_.graphs;
  if (status_ != Status::success) return returned();
  std::vector<Place> marks(graph.n_marks);
  for (const Graph::Node& node : graph.nodes) {
    CUstream_st* const on = node.branch == 0 ? stream : stream_of_branch(node.branch);
    if (node.kind == Graph::Kind::operation)
      streams_.give(on, node.what, node.run, node.ready);
    else if (node.kind == Graph::Kind::mark)
      marks[node.mark] = streams_.end_of(on);
    else
      streams_.hold(on, marks[node.mark]);
  }
  return returned();
}

Status Simulator::wait_for(const Place& place, const void* caller) {
  ++counts_.waits;
  if (refuses_in_capture()) return Status::capture_unsupported;
  if (place.stream == nullptr || skips_wait(caller, 1, false)) return status_;
  last_run_ = std::chrono::steady_clock::now();
  if (status_ == Status::success) streams_.wait_for(place);
  return returned();
}

bool Simulator::skips_wait(const void* caller, int n_calls, bool is_captured) {
  const std::string place = (is_captured ? "graph " : "") + place_of(caller, std::max(n_calls, calls_of_place_));
  return *places_of_waits_.insert(place).first == skipped_wait_;
}

void Simulator::reset() {
  finish();
  status_ = Status::success;
}

void Simulator::finish() {
  streams_.run_all();
  returned();
}

/// The host goes on. That it leaves the GPU's memory alone shows in the schedule that is late, which takes the memory
/// out of reach; the others have the same host, and would do so after each operation.
Status Simulator::returned() {
  if (streams_.schedule().order == Schedule::Order::late) memory_.set_reachable(false);
  return status_;
}

/// What ranks send each other comes soon, or they wait for each other.
void Simulator::idle(const CUstream_st& stream) {
  using namespace std::chrono;
  const auto waited = steady_clock::now() - last_run_;
  if (waited > time_limit_) {
    std::fprintf(stderr, "simulator: deadlock: the host waits for stream %zu, whose next operation is %s %llu\n",
                 stream.slot, std::string(stream.waiting.front().what).c_str(),
                 static_cast<unsigned long long>(stream.n_done + 1));
    std::_Exit(3);
  }
  std::this_thread::sleep_for(waited < milliseconds(2) ? microseconds(20) : microseconds(200));
}

void Simulator::run(const Operation& operation) {
  last_run_ = std::chrono::steady_clock::now();
  if (status_ != Status::success) return;
  if (operation.other == nullptr && !operation.is_moment && operations_until_failure_-- == 0) {
    status_ = Status::illegal_address;
    return;
  }
  if (timeline_ != nullptr) timeline_->add(operation);
  memory_.set_reachable(true);
  races_.begin(operation.stream->slot, operation.clock, operation.what);
  Trace* const trace = std::exchange(kernels_trace, nullptr);  // a product computes by kernels of the host
  operation.run();
  kernels_trace = trace;
  races_.end();
  if (operation.other == nullptr && !operation.is_moment) ++time_;
}

}  // namespace monomorph::simulator
