#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/products/tile_product.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <stdexcept>

// Products of groups of rows, whose sizes the host does not know. A grid has as many tiles as there may be, and those
// that no expert needs end at once (docs/why/experts_on_gpus.md).
namespace monomorph::cuda {
namespace {

using enum SideBySide;

/// Which rows each expert has.
struct Groups {
  const std::int32_t* begins;
  int n_experts;
};

/// Rows of one expert that a tile computes; none if n is 0.
struct RowsOfTile {
  int expert;
  std::int64_t first, n;
};

/// The tiles of expert e are those from begins[e] / tile + e on: so many more than the ones before it that each of
/// these has room for all its tiles, wherever it begins. So a tile's expert is found by bisection.
__device__ inline std::int64_t first_tile(const Groups& groups, int expert) {
  return groups.begins[expert] / product_tile + expert;
}
std::int64_t most_tiles(std::int64_t rows, std::int64_t n_experts) { return rows / product_tile + n_experts; }

__device__ inline RowsOfTile rows_of_tile(const Groups& groups, std::int64_t tile) {
  int expert = 0, beyond = groups.n_experts;
  while (beyond - expert > 1) {
    const int middle = (expert + beyond) / 2;
    (first_tile(groups, middle) > tile ? beyond : expert) = middle;
  }
  const std::int64_t begin = groups.begins[expert], n = groups.begins[expert + 1] - begin,
                     skipped = (tile - first_tile(groups, expert)) * product_tile;
  return {expert, begin + skipped, skipped < n ? in_tile(n, skipped) : 0};
}

/// Matrices of all experts as a kernel gets them, each of `rows` rows and `cols` columns.
template <class T> struct Matrices {
  T *first, *second;
  std::int64_t stride, rows, cols;
  int n;
  __device__ T* of(int part, int expert) const { return (part == 0 ? first : second) + expert * rows * stride; }
};

/// y = x wᵀ. Columns of tiles are those of the first matrices' rows, then those of the second.
template <class T>
__global__ void __launch_bounds__(product_threads)
    multiply(Groups groups, Rows<const T> x, Matrices<const T> w, Rows<T> y, bool packed) {
  const RowsOfTile rows = rows_of_tile(groups, blockIdx.x);
  if (rows.n == 0) return;
  const auto tiles = static_cast<unsigned>(tiles_of(w.rows));
  const int part = static_cast<int>(blockIdx.y / tiles);
  const std::int64_t column = std::int64_t{blockIdx.y % tiles} * product_tile, n_columns = in_tile(w.rows, column);
  TileSums<Compute<T>> sums;
  sums.add_product(Factor<inner, T>{x.data + rows.first * x.stride, x.stride, rows.n, w.cols, packed},
                   Factor<inner, T>{w.of(part, rows.expert) + column * w.stride, w.stride, n_columns, w.cols, packed});
  sums.store(y.data + rows.first * y.stride + part * w.rows + column, y.stride, rows.n, n_columns, packed, false);
}

/// dx = dy w, summed over the matrices.
template <class T>
__global__ void __launch_bounds__(product_threads)
    multiply_backward(Groups groups, Rows<const T> dy, Matrices<const T> w, Rows<T> dx, bool packed) {
  const RowsOfTile rows = rows_of_tile(groups, blockIdx.x);
  if (rows.n == 0) return;
  const std::int64_t column = std::int64_t{blockIdx.y} * product_tile, n_columns = in_tile(w.cols, column);
  TileSums<Compute<T>> sums;
  MONOMORPH_KEEP_LOOP
  for (int part = 0; part < w.n; ++part)
    sums.add_product(Factor<inner, T>{dy.data + rows.first * dy.stride + part * w.rows, dy.stride, rows.n, w.rows,
                                      packed},
                     Factor<outer, T>{w.of(part, rows.expert) + column, w.stride, n_columns, w.rows, packed});
  sums.store(dx.data + rows.first * dx.stride + column, dx.stride, rows.n, n_columns, packed, false);
}

/// dw = dyᵀ x of an expert's rows.
template <class T, class G>
__global__ void __launch_bounds__(product_threads) multiply_transposed(Groups groups, Rows<const T> dy, Rows<const T> x,
                                                                       Matrices<G> dw, bool packed, bool accumulate) {
  const int expert = static_cast<int>(blockIdx.x) / dw.n, part = static_cast<int>(blockIdx.x) % dw.n;
  const std::int64_t first = groups.begins[expert], terms = groups.begins[expert + 1] - first;
  const std::int64_t row = std::int64_t{blockIdx.y} * product_tile, n_rows = in_tile(dw.rows, row);
  const std::int64_t column = std::int64_t{blockIdx.z} * product_tile, n_columns = in_tile(dw.cols, column);
  TileSums<Compute<T>> sums;
  sums.add_product(Factor<outer, T>{dy.data + first * dy.stride + part * dw.rows + row, dy.stride, n_rows, terms,
                                    packed},
                   Factor<outer, T>{x.data + first * x.stride + column, x.stride, n_columns, terms, packed});
  sums.store(dw.of(part, expert) + row * dw.stride + column, dw.stride, n_rows, n_columns, packed, accumulate);
}

Groups groups_of(const Routing& routing) { return {routing.begins_E, static_cast<int>(routing.n_experts)}; }

template <class T> Matrices<T> matrices_of(const ExpertMatrices& of, std::int64_t n_experts) {
  const View& first = of.parts_EFxK[0];
  const std::int64_t rows = first.shape.rows / n_experts;
  return {first.as<T>(), of.parts_EFxK[1].as<T>(), first.stride, rows, first.shape.cols, of.n};
}

/// Whether packs of all views begin where accesses do, also in the columns of a second matrix.
bool in_packs(const ExpertMatrices& w, std::int64_t n_experts, const View& a, const View& b) {
  const View& first = w.parts_EFxK[0];
  bool packed = rows_start_access(a) && rows_start_access(b) && first.shape.rows / n_experts % product_pack == 0;
  for (int part = 0; part < w.n; ++part) packed = packed && rows_start_access(w.parts_EFxK[part]);
  return packed;
}

void check_dtypes(bool fit) {
  if (!fit) throw std::logic_error("cuda products of experts have factors of one dtype, and their results, too");
}

LaunchShape shape_of_tiles(const Routing& routing, std::int64_t rows, std::int64_t tiles_of_columns) {
  return {{static_cast<unsigned>(most_tiles(rows, routing.n_experts)), static_cast<unsigned>(tiles_of_columns)},
          product_threads};
}

/// Of matrices that are all there.
void backward_weight(Queue queue, View dy, View x, const ExpertMatrices& dw, const Routing& routing, bool accumulate) {
  const DType gradient = dw.parts_EFxK[0].dtype;
  check_dtypes(dy.dtype == x.dtype && (gradient == x.dtype || gradient == statistics_dtype(x.dtype)));
  const bool packed = in_packs(dw, routing.n_experts, dy, x);
  in_element_type(x.dtype, [&]<class T>() {
    const auto start = [&]<class G>() {
      const auto matrices = matrices_of<G>(dw, routing.n_experts);
      const dim3 tiles(static_cast<unsigned>(routing.n_experts * dw.n), static_cast<unsigned>(tiles_of(matrices.rows)),
                       static_cast<unsigned>(tiles_of(matrices.cols)));
      launch(multiply_transposed<T, G>, {tiles, product_threads}, queue, groups_of(routing),
             Rows<const T>{dy.as<const T>(), dy.stride}, Rows<const T>{x.as<const T>(), x.stride}, matrices, packed,
             accumulate);
    };
    if (gradient == x.dtype)
      start.template operator()<T>();
    else
      start.template operator()<Compute<T>>();
  });
}

}  // namespace

void expert_linear(Queue queue, View x, const ExpertMatrices& w, View y, const Routing& routing) {
  const KernelSpan span(Work::products, "expert_linear", queue.stream);
  check_dtypes(x.dtype == w.parts_EFxK[0].dtype && x.dtype == y.dtype);
  const bool packed = in_packs(w, routing.n_experts, x, y);
  in_element_type(x.dtype, [&]<class T>() {
    const auto matrices = matrices_of<const T>(w, routing.n_experts);
    launch(multiply<T>, shape_of_tiles(routing, x.shape.rows, w.n * tiles_of(matrices.rows)), queue, groups_of(routing),
           Rows<const T>{x.as<const T>(), x.stride}, matrices, Rows<T>{y.as<T>(), y.stride}, packed);
  });
}

void expert_linear_backward_input(Queue queue, View dy, const ExpertMatrices& w, View dx, const Routing& routing) {
  const KernelSpan span(Work::products, "expert_linear_backward_input", queue.stream);
  check_dtypes(dy.dtype == w.parts_EFxK[0].dtype && dy.dtype == dx.dtype);
  const bool packed = in_packs(w, routing.n_experts, dy, dx);
  in_element_type(dy.dtype, [&]<class T>() {
    const auto matrices = matrices_of<const T>(w, routing.n_experts);
    launch(multiply_backward<T>, shape_of_tiles(routing, dy.shape.rows, tiles_of(matrices.cols)), queue,
           groups_of(routing), Rows<const T>{dy.as<const T>(), dy.stride}, matrices, Rows<T>{dx.as<T>(), dx.stride},
           packed);
  });
}

void expert_linear_backward_weight(Queue queue, View dy, View x, const ExpertMatrices& dw, const Routing& routing,
                                   bool accumulate) {
  const KernelSpan span(Work::products, "expert_linear_backward_weight", queue.stream);
  const bool first = dw.parts_EFxK[0].present(), second = dw.n == 2 && dw.parts_EFxK[1].present();
  if (!first && !second) return;
  if (first && (second || dw.n == 1)) return backward_weight(queue, dy, x, dw, routing, accumulate);
  // One of two is frozen: the other one, and its columns of dy.
  const View& trained = dw.parts_EFxK[first ? 0 : 1];
  const std::int64_t width = trained.shape.rows / routing.n_experts;
  backward_weight(queue, dy.columns(first ? 0 : width, width), x, {{trained}}, routing, accumulate);
}

}  // namespace monomorph::cuda
