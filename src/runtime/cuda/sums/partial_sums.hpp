#pragma once
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <monomorph/runtime/memory/view.hpp>

/// Sums of columns that blocks have found, each of its own rows, added up in an order that depends on how many there
/// are alone.
namespace monomorph::cuda {
namespace {

constexpr int tile_columns = 32, tile_warps = 8;
template <class S> struct Tile { S at[tile_warps][tile_columns]; };

/// to = (or +=) the sum of what the blocks have found, a column for each lane of a warp: warp w adds up blocks w,
/// w + 8, …, and the first warp what they have then.
template <class S, class G>
__global__ void __launch_bounds__(tile_columns* tile_warps)
    add_up_blocks(const S* partial, std::int64_t stride, int blocks, int features, G* to, bool accumulate) {
  constexpr int batch = 16;
  const int lane = static_cast<int>(threadIdx.x) % tile_columns, warp = static_cast<int>(threadIdx.x) / tile_columns;
  const int column = static_cast<int>(blockIdx.x) * tile_columns + lane;
  S sum = 0;
  for (int first = warp; column < features && first < blocks; first += batch * tile_warps) {
    S found[batch];
    MONOMORPH_UNROLL
    for (int i = 0; i < batch; ++i) {
      const int block = first + i * tile_warps;
      found[i] = block < blocks ? partial[stride * block + column] : S(0);
    }
    MONOMORPH_UNROLL
    for (int i = 0; i < batch; ++i) sum += found[i];
  }
  auto& sums = block_memory<Tile<S>>().at;
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= features) return;
  for (int other = 1; other < tile_warps; ++other) sum += sums[other][lane];
  to[column] = converted<G>(accumulate ? converted<S>(to[column]) + sum : sum);
}

/// @param stride elements between what one block has found and the next one
template <class S>
void add_up(Queue queue, const S* partial, std::int64_t stride, int blocks, const View& to, bool accumulate) {
  const auto features = static_cast<int>(to.shape.cols);
  in_element_type(to.dtype, [&]<class G>() {
    launch(add_up_blocks<S, G>,
           {static_cast<unsigned>((features + tile_columns - 1) / tile_columns), tile_columns * tile_warps}, queue,
           partial, stride, blocks, features, to.as<G>(), accumulate);
  });
}

}  // namespace
}  // namespace monomorph::cuda
