#pragma once
#include <cuda_runtime.h>

namespace monomorph::cuda {

/// Memory that the threads of a block share: one T for each type T, so that kernels name theirs by a type of their own.
/// It holds nothing before a thread writes there.
template <class T> __device__ T& block_memory() {
#ifdef __CUDACC__
  __shared__ T memory;
  return memory;
#else
  static const char key = 0;
  return *static_cast<T*>(emulator::block_memory(&key, sizeof(T)));
#endif
}

}  // namespace monomorph::cuda
