#pragma once
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/most_blocks.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/memory/view.hpp>

#include <concepts>
#include <stdexcept>

/// Kernels that compute each element of a matrix from the same elements of others. Unlike a loop over threads, they
/// read and write packs, where the views lie at multiples of them, and start nothing for a view that is empty.
namespace monomorph::cuda {
namespace {

constexpr unsigned map_threads = 256;

/// A view as a kernel gets it.
template <class T> struct Rows {
  T* data;
  std::int64_t stride;
};
struct Extent {
  std::int64_t rows, cols;
  const std::int32_t* counted = nullptr;  ///< if given, where it says on the GPU how many of the rows there are
  __device__ std::int64_t rows_there() const { return counted == nullptr ? rows : *counted; }
};

template <class S, int width, class F, class Y, class... X> __device__ void map_pack(F f, Y* y, const X*... x) {
  const auto apply = [&](const auto&... in) {
    Pack<S, width> out;
    MONOMORPH_UNROLL
    for (int i = 0; i < width; ++i) out.at[i] = f(in.at[i]...);
    write_pack(out, y);
  };
  apply(read_pack<S, width>(x)...);
}

/// Calls place(row, col) for a thread's packs of a matrix: with the first column of each.
template <int width, class Place> __device__ void each_place(const Extent& extent, Place place) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * width;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t rows = extent.rows_there();
  for (std::int64_t row = first_row; row < rows; row += static_cast<std::int64_t>(gridDim.y) * blockDim.y)
    for (std::int64_t col = first; col < extent.cols; col += step) place(row, col);
}

/// y = f(x…), computed in S. y may be one of x.
template <class S, int width, class F, class Y, class... X>
__global__ void __launch_bounds__(map_threads) map(F f, Extent extent, Rows<Y> y, Rows<const X>... x) {
  each_place<width>(extent, [&](std::int64_t row, std::int64_t col) {
    if (col + width <= extent.cols) {
      map_pack<S, width>(f, y.data + row * y.stride + col, (x.data + row * x.stride + col)...);
    } else {
      MONOMORPH_KEEP_LOOP
      for (std::int64_t tail = col; tail < extent.cols; ++tail)
        map_pack<S, 1>(f, y.data + row * y.stride + tail, (x.data + row * x.stride + tail)...);
    }
  });
}

struct AnyRows {
  AnyElements elements;
  std::int64_t stride;
};
inline AnyRows any_rows(const View& x) { return {{x.data, x.dtype}, x.stride}; }

/// The same of any dtypes, element by element. One block of a multiprocessor is said to be enough, as nvcc would rather
/// spill a register than have fewer.   @tparam X AnyRows, as many as f has arguments
template <class S, class F, class... X>
__global__ void __launch_bounds__(map_threads, 1) map_any(F f, Extent extent, AnyRows y, X... x) {
  each_place<1>(extent, [&](std::int64_t row, std::int64_t col) {
    const Pack<S, 1> element{{f(read_element<S>(x.elements, row * x.stride + col)...)}};
    write_pack(element, y.elements, row * y.stride + col);
  });
}

/// Blocks are as wide as a row needs, and take several rows if they are short.
inline LaunchShape shape_of(Extent extent, int width) {
  const std::int64_t most_wide = most_blocks(4096), most_high = most_blocks(65'535);
  const std::int64_t packs = (extent.cols + width - 1) / width;
  unsigned across = 1;
  while (across < map_threads && across < packs) across *= 2;
  const unsigned down = map_threads / across;
  const auto blocks = [](std::int64_t n, unsigned threads, std::int64_t most) {
    return static_cast<unsigned>(smaller_of((n + threads - 1) / threads, most));
  };
  return {{blocks(packs, across, most_wide), blocks(extent.rows, down, most_high)}, {across, down}};
}

/// Whether each row of it begins at a multiple of an access.
inline bool rows_start_access(const View& x) {
  const bool strides = x.shape.rows <= 1 || x.stride * size_of(x.dtype) % std::int64_t{access_bytes} == 0;
  return strides && starts_access(x.data);
}

/// Views that are not aligned are rare, and fp64 is there to compare with: they take single elements, by one kernel
/// for all dtypes.
template <class S, class Y, class... X, class F, class... Views>
void map_extent(Queue queue, F f, const Extent& extent, const View& y, const Views&... x) {
  if (y.dtype != dtype_of<Y> || ((x.dtype != dtype_of<X>) || ...))
    throw std::logic_error("cuda kernels of elements get views of the dtypes that they are called for");
  if constexpr (!std::same_as<S, double>) {
    if (rows_start_access(y) && (rows_start_access(x) && ...)) {
      constexpr int width = pack_width<Y, X...>();
      return launch(map<S, width, F, Y, X...>, shape_of(extent, width), queue, f, extent,
                    Rows<Y>{y.template as<Y>(), y.stride}, Rows<const X>{x.template as<const X>(), x.stride}...);
    }
  }
  launch(map_any<S, F, decltype(any_rows(x))...>, shape_of(extent, 1), queue, f, extent, any_rows(y), any_rows(x)...);
}

/// y = f(x…) of views of the same rows and columns, with elements of type Y and X….   @tparam S f computes in
template <class S, class Y, class... X, class F, class... Views>
void map_elements(Queue queue, F f, const View& y, const Views&... x) {
  if (!y.present()) return;
  const bool flat = y.contiguous() && (x.contiguous() && ...);
  const Extent extent = flat ? Extent{1, y.elements()} : Extent{y.shape.rows, y.shape.cols};
  map_extent<S, Y, X...>(queue, f, extent, y, x...);
}

/// The same of the first rows alone, as many as `counted` says on the GPU, or of all if it is null.
template <class S, class Y, class... X, class F, class... Views>
void map_rows(Queue queue, const std::int32_t* counted, F f, const View& y, const Views&... x) {
  if (counted == nullptr) return map_elements<S, Y, X...>(queue, f, y, x...);
  if (y.present()) map_extent<S, Y, X...>(queue, f, Extent{y.shape.rows, y.shape.cols, counted}, y, x...);
}

}  // namespace
}  // namespace monomorph::cuda
