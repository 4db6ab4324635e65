#include "runtime/cuda/products/mixed_products.hpp"

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/products/tile_product.hpp"
#include "runtime/cuda/sums/partial_sums.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <algorithm>
#include <stdexcept>

namespace monomorph::cuda {
namespace {

using enum SideBySide;

template <class T>
__global__ void __launch_bounds__(product_threads) multiply(Extent extent, std::int64_t terms, Rows<const float> dy,
                                                            Rows<const T> w, Rows<T> dx, bool packed, bool accumulate) {
  const std::int64_t row = std::int64_t{blockIdx.x} * product_tile, n_rows = in_tile(extent.rows, row);
  const std::int64_t column = std::int64_t{blockIdx.y} * product_tile, n_columns = in_tile(extent.cols, column);
  TileSums<float> sums;
  sums.add_product(Factor<inner, float>{dy.data + row * dy.stride, dy.stride, n_rows, terms, packed},
                   Factor<outer, T>{w.data + column, w.stride, n_columns, terms, packed});
  sums.store(dx.data + row * dx.stride + column, dx.stride, n_rows, n_columns, packed, accumulate);
}

/// A block has a tile of some of the terms, `each` of them but for the last block, and `partial` a whole result of
/// those of each.
template <class T>
__global__ void __launch_bounds__(product_threads)
    multiply_transposed(Extent extent, std::int64_t terms, std::int64_t each, Rows<const float> dy, Rows<const T> x,
                        bool packed, float* partial) {
  const std::int64_t row = std::int64_t{blockIdx.x} * product_tile, n_rows = in_tile(extent.rows, row);
  const std::int64_t column = std::int64_t{blockIdx.y} * product_tile, n_columns = in_tile(extent.cols, column);
  const std::int64_t first = std::int64_t{blockIdx.z} * each, n_terms = first + each < terms ? each : terms - first;
  TileSums<float> sums;
  sums.add_product(Factor<outer, float>{dy.data + first * dy.stride + row, dy.stride, n_rows, n_terms, packed},
                   Factor<outer, T>{x.data + first * x.stride + column, x.stride, n_columns, n_terms, packed});
  sums.store(partial + (blockIdx.z * extent.rows + row) * extent.cols + column, extent.cols, n_rows, n_columns,
             packed && extent.cols % product_pack == 0, false);
}

unsigned n_tiles(std::int64_t n) { return static_cast<unsigned>(tiles_of(n)); }

template <class F> void in_narrow_type(const View& dy, const View& other, F f) {
  if (dy.dtype == DType::fp32 && other.dtype == DType::bf16) return f.template operator()<BFloat16>();
  if (dy.dtype == DType::fp32 && other.dtype == DType::fp16) return f.template operator()<Half>();
  throw std::logic_error("cuda products have factors of one dtype, or those of gradients are fp32 and others narrower");
}

}  // namespace

void mixed_backward_input(Queue queue, const View& dy, const View& w, const View& dx, bool accumulate) {
  if (dx.dtype != w.dtype) throw std::logic_error("cuda::mixed_backward_input gives the dtype of the weight");
  const Extent extent{dx.shape.rows, dx.shape.cols};
  const bool packed = rows_start_access(dy) && rows_start_access(w) && rows_start_access(dx);
  in_narrow_type(dy, w, [&]<class T>() {
    launch(multiply<T>, {{n_tiles(extent.rows), n_tiles(extent.cols)}, product_threads}, queue, extent, dy.shape.cols,
           Rows<const float>{dy.as<const float>(), dy.stride}, Rows<const T>{w.as<const T>(), w.stride},
           Rows<T>{dx.as<T>(), dx.stride}, packed, accumulate);
  });
}

void mixed_backward_weight(Queue queue, const View& dy, const View& x, const View& dw, bool accumulate) {
  if (!dw.contiguous()) throw std::logic_error("cuda::mixed_backward_weight gives a matrix without gaps");
  constexpr std::int64_t least_terms = 256, wanted_blocks = 4 * multiprocessors_to_fill;
  const Extent extent{dw.shape.rows, dw.shape.cols};
  const std::int64_t terms = dy.shape.rows, tiles = tiles_of(extent.rows) * tiles_of(extent.cols);
  const std::int64_t wanted = std::max((wanted_blocks + tiles - 1) / tiles, std::int64_t{1});
  const std::int64_t each = std::max((terms + wanted - 1) / wanted, least_terms);
  const std::int64_t parts = (terms + each - 1) / each, elements = extent.rows * extent.cols;
  auto* const partial =
      reinterpret_cast<float*>(workspace(queue, parts * elements * static_cast<std::int64_t>(sizeof(float))));
  const bool packed = rows_start_access(dy) && rows_start_access(x);
  in_narrow_type(dy, x, [&]<class T>() {
    launch(multiply_transposed<T>,
           {{n_tiles(extent.rows), n_tiles(extent.cols), static_cast<unsigned>(parts)}, product_threads}, queue, extent,
           terms, each, Rows<const float>{dy.as<const float>(), dy.stride}, Rows<const T>{x.as<const T>(), x.stride},
           packed, partial);
  });
  add_up(queue, partial, elements, static_cast<int>(parts), dw.reshaped({1, elements}), accumulate);
}

}  // namespace monomorph::cuda
