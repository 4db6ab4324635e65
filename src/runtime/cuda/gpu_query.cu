#include "runtime/cuda/gpu_query.hpp"

#include <monomorph/runtime/machine/gpus.hpp>

#include <cuda_runtime.h>

namespace monomorph {

/// What the CUDA runtime reports; empty if it reports an error, as it does without a driver.
std::vector<Gpu> gpus() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) return {};
  std::vector<Gpu> gpus;
  for (int device = 0; device < count; ++device) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, device) != cudaSuccess) continue;
    gpus.push_back(
        {properties.name, properties.multiProcessorCount, static_cast<std::int64_t>(properties.totalGlobalMem)});
  }
  return gpus;
}

std::optional<std::string> cuda::why_no_gpu() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) return cudaGetErrorString(status);
  return count == 0 ? std::optional<std::string>("no device is visible") : std::nullopt;
}

}  // namespace monomorph
