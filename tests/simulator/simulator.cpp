#include "simulator/simulator.hpp"

#include <monomorph/runtime/machine/kernel_span.hpp>

#include <execinfo.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

extern "C" const char __executable_start;  // of the linker: where the program's file begins in memory

namespace monomorph::simulator {
namespace {

/// The address that CUDA's function returns to, and those of the calls around it.
std::string place_of(const void* caller, std::ptrdiff_t n_calls) {
  std::array<void*, 16> frames{};
  const auto n = static_cast<std::size_t>(backtrace(frames.data(), static_cast<int>(frames.size())));
  const auto all = std::span(frames).first(n);
  const auto first = std::ranges::find(all, caller);
  std::ostringstream text;
  for (auto frame = first; frame != all.end() && frame - first < n_calls; ++frame)
    text << (frame == first ? "" : " ") << std::hex << static_cast<const char*>(*frame) - &__executable_start;
  return text.str();
}

}  // namespace

Simulator::Simulator() {
  if (const char* const n = std::getenv("MONOMORPH_SIMULATOR_FAULT")) fail_operation(std::atoi(n));
  if (const char* const n = std::getenv("MONOMORPH_SIMULATOR_REFUSAL")) fail_allocation(std::atoi(n));
  if (const char* const n = std::getenv("MONOMORPH_SIMULATOR_GPUS")) n_gpus_ = std::atoi(n);
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
  if (status_ == Status::success) streams_.give(stream, what, std::move(run), std::move(ready));
  return returned();
}

Status Simulator::give_moment(CUstream_st* stream, std::shared_ptr<std::uint64_t> moment) {
  ++counts_.moments;
  if (status_ == Status::success) streams_.give_moment(stream, [this, moment] { *moment = time_; });
  return returned();
}

Status Simulator::hold(CUstream_st* stream, const Place& place, const void* caller) {
  if (place.stream == nullptr || skips_wait(caller, 2))
    return status_;  // an event that was never recorded holds up nothing
  if (status_ == Status::success) streams_.hold(stream, place);
  return returned();
}

Status Simulator::wait_for(const Place& place, const void* caller) {
  ++counts_.waits;
  if (place.stream == nullptr || skips_wait(caller, 1)) return status_;
  last_run_ = std::chrono::steady_clock::now();
  if (status_ == Status::success) streams_.wait_for(place);
  return returned();
}

bool Simulator::skips_wait(const void* caller, int n_calls) {
  return *places_of_waits_.insert(place_of(caller, n_calls)).first == skipped_wait_;
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
  memory_.set_reachable(true);
  races_.begin(operation.stream->slot, operation.clock, operation.what);
  Trace* const trace = std::exchange(kernels_trace, nullptr);  // a product computes by kernels of the host
  operation.run();
  kernels_trace = trace;
  races_.end();
  if (operation.other == nullptr && !operation.is_moment) ++time_;
}

}  // namespace monomorph::simulator
