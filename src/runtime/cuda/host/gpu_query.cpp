#include <monomorph/runtime/machine/gpus.hpp>

#include <cuda_runtime_api.h>

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

}  // namespace monomorph
