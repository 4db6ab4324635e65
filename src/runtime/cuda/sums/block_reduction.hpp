#pragma once
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/sums/lanes.hpp"
#include "runtime/kernels/host_device.hpp"

namespace monomorph::cuda {
namespace {

/// The lanes' values joined, in each of them: in one order, as `join` does not care which side a value comes from.
template <class T, class Join> __device__ T joined_in_warp(T value, int lanes, Join join) {
  MONOMORPH_UNROLL
  for (int distance = warp_lanes / 2; distance > 0; distance /= 2)
    if (distance < lanes) value = join(value, __shfl_xor_sync(all_lanes, value, distance));
  return value;
}

/// The values of a block's threads joined, in each of them. The block has a power of two of threads, at least a warp.
/// @tparam Name a type for each call of a kernel: its memory is used once
template <class Name, class T, class Join> __device__ T joined_in_block(T value, Join join) {
  struct OfWarps {
    T values[most_warps];
  };
  auto& of_warps = block_memory<OfWarps>();
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes, warps = static_cast<int>(blockDim.x) / warp_lanes;
  value = joined_in_warp(value, warp_lanes, join);
  if (lane == 0) of_warps.values[threadIdx.x / warp_lanes] = value;
  __syncthreads();
  return joined_in_warp(of_warps.values[lane % warps], warps, join);
}

struct Sum {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Greater {
  template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
struct Smaller {
  template <class T> __device__ T operator()(T a, T b) const { return a < b ? a : b; }
};

}  // namespace
}  // namespace monomorph::cuda
