#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/experts/pair_rows.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <stdexcept>

// How many rows of pairs there are lies in the GPU's memory, so kernels are started for as many as there may be, and
// leave the rest.
namespace monomorph::cuda {
namespace {

/// Blocks of a multiprocessor are said to be few, or the compiler would rather have more of them than registers.
constexpr unsigned fewest_map_blocks = 4;

/// Calls f.operator()<elements>(row, first column) for what a thread of map_elements' shape has of a matrix.
template <int width, class F> __device__ void each_pack(const Extent& extent, F f) {
  const std::int64_t first = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * width;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x * width;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * blockDim.y + threadIdx.y;
  const std::int64_t rows = extent.rows_there();
  for (std::int64_t row = first_row; row < rows; row += std::int64_t{gridDim.y} * blockDim.y)
    for (std::int64_t col = first; col < extent.cols; col += step) {
      if (width == 1 || col + width <= extent.cols) {
        f.template operator()<width>(row, col);
      } else {
        MONOMORPH_KEEP_LOOP
        for (std::int64_t tail = col; tail < extent.cols; ++tail) f.template operator()<1>(row, tail);
      }
    }
}

template <int most_width, class T>
__global__ void __launch_bounds__(map_threads, fewest_map_blocks)
    gather(Extent extent, const std::int32_t* pairs, int top_k, Rows<const T> x, Rows<T> rows) {
  each_pack<most_width>(extent, [=]<int width>(std::int64_t row, std::int64_t col) {
    const T* const from = x.data + pairs[row] / top_k * x.stride + col;
    *reinterpret_cast<Pack<T, width>*>(rows.data + row * rows.stride + col) =
        *reinterpret_cast<const Pack<T, width>*>(from);
  });
}

/// A token's pairs: their rows, -1 for those that have none, and their weights, or null for ones.
template <class S> struct Pairs {
  const std::int32_t* rows;
  const S* weights;
  int top_k;
};

template <int most_width, class T, class S>
__global__ void __launch_bounds__(map_threads, fewest_map_blocks)
    combine(Extent extent, Pairs<S> pairs, Rows<const T> rows, Rows<const T> residual, Rows<T> y) {
  each_pack<most_width>(extent, [=]<int width>(std::int64_t token, std::int64_t col) {
    Pack<S, width> sum{};
    if (residual.data != nullptr) sum = read_pack<S, width>(residual.data + token * residual.stride + col);
    MONOMORPH_KEEP_LOOP
    for (std::int64_t pair = token * pairs.top_k; pair < (token + 1) * pairs.top_k; ++pair) {
      if (pairs.rows[pair] < 0) continue;
      const S weight = pairs.weights == nullptr ? S(1) : pairs.weights[pair];
      const auto row = read_pack<S, width>(rows.data + pairs.rows[pair] * rows.stride + col);
      MONOMORPH_UNROLL
      for (int i = 0; i < width; ++i) sum.at[i] += weight * row.at[i];
    }
    write_pack(sum, y.data + token * y.stride + col);
  });
}

constexpr int row_warps = 8, row_threads = row_warps * warp_lanes;

/// A warp has a row. Its first lane alone reads and writes the weight, as another lane's write might come too early.
template <int width, class T, class S>
__global__ void __launch_bounds__(row_threads)
    weigh_backward(const std::int32_t* n_rows, std::int64_t columns, const std::int32_t* pairs, S* weights, Rows<T> a,
                   Rows<T> d) {
  const std::int64_t row = std::int64_t{blockIdx.x} * row_warps + threadIdx.x / warp_lanes;
  if (row >= *n_rows) return;
  const int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  S weight = lane == 0 ? weights[pairs[row]] : S(0);
  weight = __shfl_sync(0xFFFF'FFFFu, weight, 0);
  S dot = 0;
  for (std::int64_t col = lane * width; col < columns; col += warp_lanes * width) {
    T* const of_a = a.data + row * a.stride + col;
    T* const of_d = d.data + row * d.stride + col;
    auto x = read_pack<S, width>(of_a), dx = read_pack<S, width>(of_d);
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) {
      dot += x.at[i] * dx.at[i];
      x.at[i] *= weight;
      dx.at[i] *= weight;
    }
    write_pack(x, of_a);
    write_pack(dx, of_d);
  }
  dot = joined_in_warp(dot, warp_lanes, Sum());
  if (lane == 0) weights[pairs[row]] = dot;
}

/// Calls start.operator()<width>() with as many elements as all views can be read by at once.
template <class T, class Start, class... Views> void in_packs(Start start, const Views&... views) {
  if ((rows_start_access(views) && ...))
    start.template operator()<pack_width<T>()>();
  else
    start.template operator()<1>();
}

}  // namespace

void gather_rows(Queue queue, View x, const Routing& routing, View rows) {
  const KernelSpan span(Work::elementwise, "gather_rows", queue.stream);
  if (x.dtype != rows.dtype) throw std::logic_error("cuda::gather_rows gathers rows of the dtype that they have");
  const Extent extent{rows.shape.rows, rows.shape.cols, n_rows_of(routing)};
  in_element_type(x.dtype, [&]<class T>() {
    in_packs<T>(
        [&]<int width>() {
          launch(gather<width, T>, shape_of(extent, width), queue, extent, routing.pairs_N,
                 static_cast<int>(routing.top_k), Rows<const T>{x.as<const T>(), x.stride},
                 Rows<T>{rows.as<T>(), rows.stride});
        },
        x, rows);
  });
}

void combine_rows(Queue queue, View rows, const Routing& routing, View weights, View residual, View y) {
  const KernelSpan span(Work::elementwise, "combine_rows", queue.stream);
  if (!y.present()) return;
  if (rows.dtype != y.dtype || (residual.present() && residual.dtype != y.dtype))
    throw std::logic_error("cuda::combine_rows adds rows of the dtype that the sum has");
  const Extent extent{y.shape.rows, y.shape.cols};
  in_element_type(y.dtype, [&]<class T>() {
    using S = Compute<T>;
    const Pairs<S> pairs{routing.rows_Mk, weights.present() ? weights.as<const S>() : nullptr,
                         static_cast<int>(routing.top_k)};
    const Rows<const T> before{residual.present() ? residual.as<const T>() : nullptr, residual.stride};
    in_packs<T>(
        [&]<int width>() {
          launch(combine<width, T, S>, shape_of(extent, width), queue, extent, pairs,
                 Rows<const T>{rows.as<const T>(), rows.stride}, before, Rows<T>{y.as<T>(), y.stride});
        },
        rows, residual, y);
  });
}

void weigh_rows_backward(Queue queue, View a, View d, const Routing& routing) {
  const KernelSpan span(Work::elementwise, "weigh_rows_backward", queue.stream);
  if (a.dtype != d.dtype) throw std::logic_error("cuda::weigh_rows_backward takes rows of one dtype");
  const auto blocks = static_cast<unsigned>((a.shape.rows + row_warps - 1) / row_warps);
  const std::int64_t columns = a.shape.cols;
  in_element_type(a.dtype, [&]<class T>() {
    using S = Compute<T>;
    const auto start = [&]<int width>() {
      launch(weigh_backward<width, T, S>, {blocks, row_threads}, queue, n_rows_of(routing), columns, routing.pairs_N,
             routing.weights_Mk.as<S>(), Rows<T>{a.as<T>(), a.stride}, Rows<T>{d.as<T>(), d.stride});
    };
    constexpr int width = pack_width<T>();
    if (columns % width == 0 && rows_start_access(a) && rows_start_access(d))
      start.template operator()<width>();
    else
      start.template operator()<1>();
  });
}

}  // namespace monomorph::cuda
