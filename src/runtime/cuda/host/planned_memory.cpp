#include "runtime/cuda/host/planned_memory.hpp"

#include "runtime/cuda/host/check.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>

namespace monomorph::cuda {

std::byte* take_gpu_memory(std::int64_t bytes, const char* use) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(bytes));
  if (status == cudaErrorMemoryAllocation) {
    std::size_t free = 0, total = 0;
    cudaMemGetInfo(&free, &total);
    throw UsageError("GPU-05", fmt::format("{}{} of the GPU's memory must be free{}, and {} of {} are ({})",
                                           use == nullptr ? "the plan's " : "", format_bytes(bytes),
                                           use == nullptr ? "" : fmt::format(" for {}", use),
                                           format_bytes(static_cast<std::int64_t>(free)),
                                           format_bytes(static_cast<std::int64_t>(total)), cudaGetErrorString(status)));
  }
  check(status, "allocating memory");
  return static_cast<std::byte*>(memory);
}

std::byte* take_host_memory(std::int64_t bytes, const char* use) {
  void* memory = nullptr;
  const cudaError_t status = cudaMallocHost(&memory, static_cast<std::size_t>(bytes));
  if (status == cudaErrorMemoryAllocation || status == cudaErrorOperatingSystem)
    throw UsageError(
        "GPU-06", fmt::format("{}{} of the host's memory must be free for CUDA to keep {}in place, and it refuses them "
                              "({}); {}see `ulimit -l` and what others use",
                              use == nullptr ? "the plan's " : "", format_bytes(bytes),
                              use == nullptr ? "" : fmt::format("{} ", use), cudaGetErrorString(status),
                              use == nullptr ? "keep less on the host, or " : ""));
  check(status, "allocating memory of the host");
  return static_cast<std::byte*>(memory);
}

}  // namespace monomorph::cuda
