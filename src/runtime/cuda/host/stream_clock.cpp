#include "runtime/cuda/host/stream_clock.hpp"

#include "runtime/cuda/host/check.hpp"

#include <monomorph/runtime/cuda/queue.hpp>

#include <chrono>
#include <utility>
#include <vector>

namespace monomorph::cuda {
namespace {

using Ticks = std::chrono::steady_clock::duration;

class EventClock final : public StreamClock {
 public:
  EventClock() = default;
  EventClock(const EventClock&) = delete;
  /// Nothing is thrown where a run ends, maybe because of a failure of the GPU.
  ~EventClock() override {
    forget();
    for (cudaEvent_t event : unused_) cudaEventDestroy(event);
    if (reference_ != nullptr) cudaEventDestroy(reference_);
  }

  void ask(void* stream) noexcept override {
    if (reference_ == nullptr) set_to_host_time();
    cudaEvent_t event = take_event();
    if (event != nullptr &&
        cudaEventRecord(event, stream == nullptr ? compute_stream() : static_cast<cudaStream_t>(stream)) != cudaSuccess)
      unused_.push_back(std::exchange(event, nullptr));
    asked_.push_back(event);
  }

  void read(std::vector<std::int64_t>& moments, bool waits) override {
    moments.resize(asked_.size(), unknown);
    for (std::size_t i = 0; i < asked_.size(); ++i) {
      if (asked_[i] == nullptr) continue;
      if (waits) check(cudaEventSynchronize(asked_[i]), "computing");
      if (const cudaError_t status = cudaEventQuery(asked_[i]); status == cudaErrorNotReady)
        continue;
      else
        check(status, "computing");
      moments[i] = time_of(asked_[i]);
      unused_.push_back(std::exchange(asked_[i], nullptr));
    }
  }

  void forget() override {
    for (cudaEvent_t event : asked_)
      if (event != nullptr) unused_.push_back(event);
    asked_.clear();
  }

 private:
  /// @return null if there is none
  static cudaEvent_t new_timed_event() {
    cudaEvent_t event = nullptr;
    return cudaEventCreateWithFlags(&event, cudaEventDefault) == cudaSuccess ? event : nullptr;
  }
  cudaEvent_t take_event() {
    if (unused_.empty()) return new_timed_event();
    const cudaEvent_t event = unused_.back();
    unused_.pop_back();
    return event;
  }

  /// The one time that it waits for the GPU: when it is asked for the first moment.
  void set_to_host_time() {
    reference_ = new_timed_event();
    if (reference_ == nullptr) return;
    cudaEventRecord(reference_, compute_stream());
    cudaEventSynchronize(reference_);
    reference_time_ = std::chrono::steady_clock::now().time_since_epoch();
  }

  /// CUDA has the milliseconds between two events as a float, which is exact to a part of a microsecond for a few
  /// seconds: so what lies further behind becomes what later ones are compared with.
  std::int64_t time_of(cudaEvent_t& event) {
    constexpr float far = 1000;
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, reference_, event), "reading an event");
    const Ticks time =
        reference_time_ + std::chrono::duration_cast<Ticks>(std::chrono::duration<double, std::milli>(milliseconds));
    if (milliseconds > far) {
      std::swap(reference_, event);
      reference_time_ = time;
    }
    return time.count();
  }

  cudaEvent_t reference_ = nullptr;
  Ticks reference_time_{};
  std::vector<cudaEvent_t> asked_;  ///< by number; null if its moment is known, or never will be
  std::vector<cudaEvent_t> unused_;
};

}  // namespace

std::unique_ptr<StreamClock> stream_clock() { return std::make_unique<EventClock>(); }

}  // namespace monomorph::cuda
