#include "runtime/cuda/sums/column_sums.hpp"

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/sums/partial_sums.hpp"

// A block adds up some rows of some columns: each lane has a pack of columns, and each warp every eighth row, of which
// it reads several at once. The warps' sums meet in the block's memory, those of the blocks in a second kernel.
namespace monomorph::cuda {
namespace {

constexpr int lanes = 32, warps = 8, rows_at_once = 8;

template <class S, int width> struct WarpSums { Pack<S, width> at[warps][lanes]; };

/// @param each rows of a block
template <int width, class T>
__global__ void __launch_bounds__(lanes* warps)
    sum_rows(Rows<const T> x, Extent extent, std::int64_t each, Compute<T>* partial) {
  using S = Compute<T>;
  const int lane = static_cast<int>(threadIdx.x) % lanes, warp = static_cast<int>(threadIdx.x) / lanes;
  const std::int64_t column = (static_cast<std::int64_t>(blockIdx.x) * lanes + lane) * width;
  const std::int64_t begin = blockIdx.y * each, end = begin + each < extent.rows ? begin + each : extent.rows;
  Pack<S, width> sum{};
  if (column < extent.cols) {
    for (std::int64_t row = begin + warp; row < end; row += warps * rows_at_once) {
      Pack<T, width> found[rows_at_once];
      MONOMORPH_UNROLL
      for (int i = 0; i < rows_at_once; ++i)
        if (row + i * warps < end) found[i] = read_pack<T, width>(x.data + (row + i * warps) * x.stride + column);
      MONOMORPH_UNROLL
      for (int i = 0; i < rows_at_once; ++i) {
        if (row + i * warps >= end) continue;
        MONOMORPH_UNROLL
        for (int k = 0; k < width; ++k) sum.at[k] += converted<S>(found[i].at[k]);
      }
    }
  }
  auto& sums = block_memory<WarpSums<S, width>>().at;
  sums[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || column >= extent.cols) return;
  for (int other = 1; other < warps; ++other) sum = sum + sums[other][lane];
  write_pack(sum, partial + blockIdx.y * extent.cols + column);
}

template <int width, class T> void start(Queue queue, const View& x, const View& to, bool accumulate) {
  using S = Compute<T>;
  constexpr std::int64_t blocks_of_each = 8, many_blocks = multiprocessors_to_fill * blocks_of_each;
  constexpr std::int64_t least_rows = warps * rows_at_once;
  const Extent extent{x.shape.rows, x.shape.cols};
  const std::int64_t across = (extent.cols + lanes * width - 1) / (lanes * width);
  const std::int64_t wanted = std::max(many_blocks / across, std::int64_t{1});
  const std::int64_t each = std::max((extent.rows + wanted - 1) / wanted, least_rows);
  const std::int64_t down = (extent.rows + each - 1) / each;
  auto* const partial =
      reinterpret_cast<S*>(workspace(queue, down * extent.cols * static_cast<std::int64_t>(sizeof(S))));
  launch(sum_rows<width, T>, {{static_cast<unsigned>(across), static_cast<unsigned>(down)}, lanes * warps}, queue,
         Rows<const T>{x.as<const T>(), x.stride}, extent, each, partial);
  add_up<S>(queue, partial, extent.cols, static_cast<int>(down), to, accumulate);
}

}  // namespace

void column_sums(Queue queue, const View& x, const View& sums, bool accumulate) {
  if (!sums.present()) return;
  in_element_type(x.dtype, [&]<class T>() {
    constexpr int width = pack_width<T>();
    if (x.shape.cols % width == 0 && rows_start_access(x))
      start<width, T>(queue, x, sums, accumulate);
    else
      start<1, T>(queue, x, sums, accumulate);
  });
}

}  // namespace monomorph::cuda
