#pragma once
#include "emulator/emulator.hpp"

#include <concepts>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <utility>

// What kernels use of CUDA, on the emulator: found in the place of the toolkit's header of this name.

#define __global__
#define __device__
#define __host__
#define __grid_constant__
#define __launch_bounds__(...)

enum cudaError_t {  // CUDA's numbers
  cudaSuccess,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorIllegalAddress = 700
};
inline const char* cudaGetErrorString(cudaError_t status) {
  return status == cudaErrorIllegalAddress     ? "an illegal memory access was encountered"
         : status == cudaErrorMemoryAllocation ? "out of memory"
                                               : "invalid configuration argument";
}

using cudaStream_t = struct CUstream_st*;
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
};

namespace monomorph::emulator {
/// Takes a kernel that was launched on a stream. Each program says once when it runs: the emulator's own tests at once,
/// the simulator in the stream's turn.
cudaError_t start(cudaStream_t stream, dim3 grid, dim3 block, std::size_t dynamic_bytes, std::function<void()> thread);
}  // namespace monomorph::emulator

/// Limits are those of every GPU. The kernel gets copies of its arguments, as it may run when the caller has gone on.
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  constexpr unsigned most_threads = 1024, most_blocks_y = 65'535;
  if (config->gridDim.count() == 0 || config->blockDim.count() == 0 || config->blockDim.count() > most_threads ||
      config->gridDim.y > most_blocks_y || config->gridDim.z > most_blocks_y)
    return cudaErrorInvalidConfiguration;
  return monomorph::emulator::start(config->stream, config->gridDim, config->blockDim, config->dynamicSmemBytes,
                                    [kernel, parameters = std::tuple<Parameters...>(arguments...)] {
                                      std::apply(kernel, parameters);
                                    });
}

inline void __syncthreads(std::source_location where = std::source_location::current()) {
  monomorph::emulator::barrier(where);
}
inline int __syncthreads_or(int value, std::source_location where = std::source_location::current()) {
  return monomorph::emulator::barrier(where, value != 0) ? 1 : 0;
}

namespace monomorph::emulator {
template <class T> T exchanged(unsigned mask, T value, unsigned source, Where where) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t word = 0;
  std::memcpy(&word, &value, sizeof(T));
  word = exchange(mask, word, source, where);
  std::memcpy(&value, &word, sizeof(T));
  return value;
}
}  // namespace monomorph::emulator

template <class T>
T __shfl_sync(unsigned mask, T value, int source, std::source_location where = std::source_location::current()) {
  return monomorph::emulator::exchanged(mask, value, static_cast<unsigned>(source), where);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int distance, std::source_location where = std::source_location::current()) {
  return monomorph::emulator::exchanged(mask, value, monomorph::emulator::lane() ^ static_cast<unsigned>(distance),
                                        where);
}
inline unsigned __ballot_sync(unsigned mask, int value, std::source_location where = std::source_location::current()) {
  return monomorph::emulator::vote(mask, value != 0, where);
}

/// Of integers alone: floating-point sums would depend on the order in which threads come.
template <std::integral T> T atomicAdd(T* to, std::type_identity_t<T> x) {
  return __atomic_fetch_add(to, x, __ATOMIC_RELAXED);
}
template <std::integral T> T atomicMax(T* to, std::type_identity_t<T> x) {
  T before = __atomic_load_n(to, __ATOMIC_RELAXED);
  while (before < x && !__atomic_compare_exchange_n(to, &before, x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return before;
}
