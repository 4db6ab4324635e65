#pragma once
#include <cuda_runtime.h>

namespace monomorph::cuda {

/// Memory that the threads of a block share: one T for each type T, so that kernels name theirs by a type of their own.
/// It holds nothing before a thread writes there.
///
/// The one place where kernels differ on the emulator besides `launch` (docs/why/emulator.md): __shared__ is a word of
/// CUDA's language, for which a host's compiler has none that gives a variable to each block. As a static one it would
/// be the next block's, too, and hold what the last one left there.
template <class T> __device__ T& block_memory() {
#ifdef __NVCC__
  __shared__ T memory;
  return memory;
#else
  static const char key = 0;
  return *static_cast<T*>(emulator::block_memory(&key, sizeof(T)));
#endif
}

}  // namespace monomorph::cuda
