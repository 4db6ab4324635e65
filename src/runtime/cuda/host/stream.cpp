#include "runtime/cuda/host/check.hpp"
#include "runtime/cuda/host/stream_clock.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/cuda/memory.hpp>
#include <monomorph/runtime/cuda/queue.hpp>

#include <fmt/format.h>

namespace monomorph::cuda {

void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation)
    throw UsageError("GPU-05",
                     fmt::format("the GPU has no memory left for what comes beside the plan's, while {} ({}); see who "
                                 "else uses it with nvidia-smi",
                                 doing, cudaGetErrorString(status)));
  throw Error("GPU-02", fmt::format("the GPU failed while {} ({}); see the driver's messages on that machine", doing,
                                    cudaGetErrorString(status)));
}

std::optional<std::string> why_no_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count == 0 ? std::optional<std::string>("no device is visible") : std::nullopt;
}

namespace {

cudaStream_t new_stream() {
  if (const auto reason = why_no_gpu())
    throw UsageError("GPU-03",
                     fmt::format("this program computes on a GPU, and CUDA has none here ({}); see nvidia-smi "
                                 "and CUDA_VISIBLE_DEVICES, or build the recipe for the device cpu",
                                 *reason));
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "opening a stream");
  stream_clock_of_device = stream_clock;
  return stream;
}

}  // namespace

CUstream_st* compute_stream() {
  static const cudaStream_t stream = new_stream();
  return stream;
}

void synchronize(Queue queue) { check(cudaStreamSynchronize(queue.stream), "computing"); }

}  // namespace monomorph::cuda
