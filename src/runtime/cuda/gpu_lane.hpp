#pragma once
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

#include <deque>
#include <exception>

namespace monomorph::cuda {

/// A stream of collectives beside the one that computes: the thread's current stream on the lane's device.
class GpuLane {
 public:
  explicit GpuLane(c10::DeviceIndex device) : stream_(c10::cuda::getStreamFromPool(false, device)) {}
  GpuLane(const GpuLane&) = delete;
  ~GpuLane() {
    try {
      stream_.synchronize();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): a GPU that fails uses nothing any more
    }
  }
  const c10::cuda::CUDAStream& stream() const { return stream_; }

  /// What comes on the lane from here on begins after the compute that is in line now.
  void after_compute() {
    computed_.record(computing());
    computed_.block(stream_);
  }
  /// What is on the lane now belongs to the unit.
  void done(int unit) {
    while (static_cast<int>(units_.size()) <= unit) units_.emplace_back();
    units_[unit].record(stream_);
  }
  /// Compute that comes from here on begins after what belongs to the unit.
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
