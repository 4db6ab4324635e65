#pragma once
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/lanes.hpp"

/// Sums over threads that compute something together, in one order, so that each of them has the same bits.
namespace monomorph::cuda {
namespace {

/// Over runs of `lanes` lanes of a warp, a power of two. All lanes of the warp must come.
template <class S, int n> __device__ Pack<S, n> lanes_total(Pack<S, n> x, int lanes) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) {
    MONOMORPH_UNROLL
    for (int i = 0; i < n; ++i) x.at[i] += __shfl_xor_sync(all_lanes, x.at[i], distance);
  }
  return x;
}

/// Those of its warps. There are two, so that a barrier is between what is read of one sum and written of the next but
/// one.
template <class S, int n> struct WarpTotals { Pack<S, n> of[2][most_warps]; };

/// Over a block of whole warps, in one dimension.   @param turn 0, 1, 0, … from one such sum of a kernel to the next
template <class S, int n> __device__ Pack<S, n> block_total(Pack<S, n> x, int turn) {
  x = lanes_total(x, warp_lanes);
  auto& totals = block_memory<WarpTotals<S, n>>().of[turn];
  if (threadIdx.x % warp_lanes == 0) totals[threadIdx.x / warp_lanes] = x;
  __syncthreads();
  Pack<S, n> total = totals[0];
  const int warps = static_cast<int>(blockDim.x) / warp_lanes;
  for (int warp = 1; warp < warps; ++warp) total = total + totals[warp];
  return total;
}

}  // namespace
}  // namespace monomorph::cuda
