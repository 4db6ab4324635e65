#pragma once
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"

#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/memory/view.hpp>

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

/// y = f(x…), computed in S. y may be one of x.
template <class S, int width, class F, class Y, class... X>
__global__ void __launch_bounds__(map_threads) map(F f, Extent extent, Rows<Y> y, Rows<const X>... x) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * width;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t rows = extent.rows_there();
  for (std::int64_t row = first_row; row < rows; row += static_cast<std::int64_t>(gridDim.y) * blockDim.y) {
    for (std::int64_t col = first; col < extent.cols; col += step) {
      if (col + width <= extent.cols) {
        map_pack<S, width>(f, y.data + row * y.stride + col, (x.data + row * x.stride + col)...);
      } else {
        MONOMORPH_KEEP_LOOP
        for (std::int64_t tail = col; tail < extent.cols; ++tail)
          map_pack<S, 1>(f, y.data + row * y.stride + tail, (x.data + row * x.stride + tail)...);
      }
    }
  }
}

/// Blocks are as wide as a row needs, and take several rows if they are short.
inline LaunchShape shape_of(Extent extent, int width) {
  constexpr std::int64_t most_wide = 4096, most_high = 65'535;
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

template <class S, class Y, class... X, class F, class... Views>
void map_extent(Queue queue, F f, const Extent& extent, const View& y, const Views&... x) {
  const auto start = [&]<int width>() {
    launch(map<S, width, F, Y, X...>, shape_of(extent, width), queue, f, extent, Rows<Y>{y.template as<Y>(), y.stride},
           Rows<const X>{x.template as<const X>(), x.stride}...);
  };
  // fp64, which is there to compare with, takes single elements: nvcc would need as long again for packs of it.
  constexpr int width = std::same_as<S, double> ? 1 : pack_width<Y, X...>();
  if (rows_start_access(y) && (rows_start_access(x) && ...))
    start.template operator()<width>();
  else
    start.template operator()<1>();
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
