#pragma once
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

#include <deque>
#include <exception>

namespace monomorph::cuda {

/// A CUDA stream for collectives. Compute is on another one: the thread's current stream of the same device.
class CommunicationStream {
 public:
  explicit CommunicationStream(c10::DeviceIndex device) : stream_(c10::cuda::getStreamFromPool(false, device)) {}
  CommunicationStream(const CommunicationStream&) = delete;
  ~CommunicationStream() {
    try {
      stream_.synchronize();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): a GPU that fails uses nothing any more
    }
  }
  const c10::cuda::CUDAStream& stream() const { return stream_; }

  /// What is enqueued here from now on waits for the compute that is enqueued now.
  void after_compute() {
    computed_.record(computing());
    computed_.block(stream_);
  }
  /// What is enqueued here now, and not before, belongs to the unit.
  void done(int unit) {
    while (static_cast<int>(units_.size()) <= unit) units_.emplace_back();
    units_[unit].record(stream_);
  }
  /// Compute that is enqueued from now on waits for what belongs to the unit.
  void before_compute(int unit) {
    if (unit < static_cast<int>(units_.size()))
      units_[unit].block(computing());  // an event never recorded blocks nothing
  }

 private:
  c10::cuda::CUDAStream computing() const { return c10::cuda::getCurrentCUDAStream(stream_.device_index()); }

  c10::cuda::CUDAStream stream_;
  at::cuda::CUDAEvent computed_;
  std::deque<at::cuda::CUDAEvent> units_;
};

}  // namespace monomorph::cuda
