#pragma once
#include <monomorph/runtime/cuda/queue.hpp>

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

namespace monomorph::cuda {

/// Threads of a block and blocks of a grid, and the bytes of a block's memory that its size is known for only now.
struct LaunchShape {
  dim3 blocks, threads;
  std::size_t dynamic_bytes = 0;
};

/// @throws Error [KERNEL-05] unless the status is success
void check_launched(cudaError_t status);

/// Puts a kernel on a queue: the only way in which one starts, as <<<>>> is read by nvcc alone. This, block_memory and
/// CUDA's own headers are what differs on the emulator (docs/why/emulator.md); kernels are the same lines.
/// @throws Error [KERNEL-05] CUDA does not start it
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Queue queue, Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = shape.blocks;
  config.blockDim = shape.threads;
  config.dynamicSmemBytes = shape.dynamic_bytes;
  config.stream = queue.stream;
  check_launched(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...));
}

}  // namespace monomorph::cuda
