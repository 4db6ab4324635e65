#pragma once
#include "emulator/emulator.hpp"

#include <cmath>
#include <concepts>
#include <cstring>
#include <numbers>
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

// Hints for caches, which the emulator has not. The second-level cache is where atomic operations take place, so what
// is read from there races with none of them.
template <class T> T __ldcg(const T* from) { return __atomic_load_n(from, __ATOMIC_RELAXED); }

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
/// One access, as on a GPU: of four members g++ would make four, which is what the sanitizers and the simulator see.
inline void __stwb(uint4* to, uint4 value) {
  using Access [[gnu::vector_size(16), gnu::may_alias]] = unsigned;
  *reinterpret_cast<Access*>(to) = Access{value.x, value.y, value.z, value.w};
}

// Approximations, by the formulas that CUDA's programming guide gives for them: their errors are within its bounds, and
// of the size of a GPU's, but not the same bits.

/// 2^(x log2(e)), the product rounded to fp32: an error of 2 + |1.173 x| units in the last place at most.
inline float __expf(float x) { return std::exp2(x * 1.44269504f); }
/// x (1 / y), an error of two units at most: beyond 2^126 the reciprocal is zero, as it would be subnormal.
inline float __fdividef(float x, float y) {
  const float reciprocal = 1.0f / y;
  return x * (std::fabs(y) > 0x1p126f ? std::copysign(0.0f, y) : reciprocal);
}

namespace monomorph::emulator {
/// Of π x. The angle is taken apart before it is rounded, as on a GPU: with an error of two units at most.
struct HalfTurns {
  double sine, cosine;
  explicit HalfTurns(double x) {
    const double quarters = std::nearbyint(2 * std::remainder(x, 2.0)), rest = std::remainder(x, 0.5);
    const double s = std::sin(std::numbers::pi * rest), c = std::cos(std::numbers::pi * rest);
    const bool is_odd = std::fabs(quarters) == 1;
    sine = is_odd ? std::copysign(c, quarters) : std::fabs(quarters) == 2 ? -s : s;
    cosine = is_odd ? 0.0 - std::copysign(1.0, quarters) * s : std::fabs(quarters) == 2 ? -c : c;
  }
};
}  // namespace monomorph::emulator

// Templates, as C libraries of later years have functions of these names.
template <std::same_as<double> T> T sinpi(T x) { return monomorph::emulator::HalfTurns(x).sine; }
template <std::same_as<double> T> T cospi(T x) { return monomorph::emulator::HalfTurns(x).cosine; }
