#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <cmath>
#include <stdexcept>

// A block has a text. Its threads look for its tokens together, and each of them then has some of the features.
namespace monomorph::cuda {
namespace {

/// Blocks of a multiprocessor are said to be few, or the compiler would rather have more of them than registers.
constexpr int pool_threads = 256, fewest_pool_blocks = 4;

/// Where a text's tokens lie in its sample.
struct TokensOfText {
  int first, last, count;
};

__device__ inline TokensOfText tokens_of(const std::int32_t* text_of_T, int tokens, std::int32_t text) {
  TokensOfText own{tokens, -1, 0};
  for (int t = static_cast<int>(threadIdx.x); t < tokens; t += pool_threads) {
    if (text_of_T[t] != text) continue;
    own.first = Smaller()(own.first, t);
    own.last = t;
    ++own.count;
  }
  return {joined_in_block<struct OfFirst>(own.first, Smaller()), joined_in_block<struct OfLast>(own.last, Greater()),
          joined_in_block<struct OfCount>(own.count, Sum())};
}

/// A text of a sample, as a block has it.
struct Text {
  const std::int32_t* text_of_T;
  std::int64_t first_token;
  std::int32_t number;
  Pooling kind;
  TokensOfText tokens;

  __device__ Text(const std::int32_t* text_of_M, const TextPooling& pooling)
      : first_token(blockIdx.x / pooling.texts * pooling.tokens),
        number(static_cast<std::int32_t>(blockIdx.x % pooling.texts)),
        kind(pooling.kind) {
    text_of_T = text_of_M + first_token;
    tokens = tokens_of(text_of_T, static_cast<int>(pooling.tokens), number);
  }
  __device__ bool takes(int t) const {
    if (kind == Pooling::mean) return text_of_T[t] == number;
    return t == (kind == Pooling::first ? tokens.first : tokens.last);
  }
  template <class S> __device__ S weight() const {
    return kind == Pooling::mean && tokens.count > 0 ? S(1) / static_cast<S>(tokens.count) : S(1);
  }
};

/// @tparam S computes, and says whether there is a text
template <class S, class X, class Y>
__global__ void __launch_bounds__(pool_threads, fewest_pool_blocks)
    pool(const X* x, std::int64_t x_stride, const std::int32_t* text_of, TextPooling pooling, std::int64_t columns,
         Y* y, std::int64_t y_stride, S* present, std::int64_t present_stride) {
  const Text text(text_of, pooling);
  if (threadIdx.x == 0) present[blockIdx.x * present_stride] = text.tokens.count > 0 ? S(1) : S(0);
  const S weight = text.template weight<S>();
  for (std::int64_t column = threadIdx.x; column < columns; column += pool_threads) {
    S sum = 0;
    for (int t = text.tokens.first; t <= text.tokens.last; ++t)
      if (text.takes(t)) sum += converted<S>(x[(text.first_token + t) * x_stride + column]);
    y[blockIdx.x * y_stride + column] = converted<Y>(sum * weight);
  }
}

/// The first text's block clears what is in no text.
template <class S, class Y, class X>
__global__ void __launch_bounds__(pool_threads, fewest_pool_blocks)
    pool_backward(const Y* dy, std::int64_t dy_stride, const std::int32_t* text_of, TextPooling pooling,
                  std::int64_t columns, X* dx, std::int64_t dx_stride) {
  const Text text(text_of, pooling);
  const S weight = text.template weight<S>();
  for (std::int64_t column = threadIdx.x; column < columns; column += pool_threads) {
    const X gradient = converted<X>(converted<S>(dy[blockIdx.x * dy_stride + column]) * weight);
    for (int t = 0; t < static_cast<int>(pooling.tokens); ++t) {
      const std::int32_t of = text.text_of_T[t];
      const bool in_no_text = of < 0 || of >= pooling.texts;
      if (of != text.number && !(in_no_text && text.number == 0)) continue;
      dx[(text.first_token + t) * dx_stride + column] = !in_no_text && text.takes(t) ? gradient : converted<X>(S(0));
    }
  }
}

/// Calls f with the element types of activations and of what is made of them: the same, or fp32 beside 16 bits.
template <class F> void in_pooled_types(DType activation, DType pooled, F f) {
  if (pooled != activation && pooled != statistics_dtype(activation))
    throw std::logic_error("cuda pools activations to their own dtype, or to that of their statistics");
  in_element_type(activation, [&]<class X>() {
    if (pooled == activation)
      f.template operator()<X, X>();
    else
      f.template operator()<X, Compute<X>>();
  });
}

constexpr int row_warps = 8, row_threads = row_warps * warp_lanes;

template <class S> struct RowOfWarp {
  int lane = static_cast<int>(threadIdx.x) % warp_lanes;
  std::int64_t row = std::int64_t{blockIdx.x} * row_warps + threadIdx.x / warp_lanes;

  __device__ double product(const S* a, const S* b, std::int64_t n) const {
    double sum = 0;
    for (std::int64_t i = lane; i < n; i += warp_lanes) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
    return joined_in_warp(sum, warp_lanes, Sum());
  }
};

template <class S>
__global__ void __launch_bounds__(row_threads) to_unit_length(std::int64_t rows, std::int64_t columns, const S* x,
                                                              std::int64_t x_stride, S* y, std::int64_t y_stride) {
  const RowOfWarp<S> of;
  if (of.row >= rows) return;
  const S* const in = x + of.row * x_stride;
  const double length = std::sqrt(of.product(in, in, columns)), factor = length > 0 ? 1 / length : 0;
  for (std::int64_t i = of.lane; i < columns; i += warp_lanes)
    y[of.row * y_stride + i] = static_cast<S>(factor * static_cast<double>(in[i]));
}

template <class S>
__global__ void __launch_bounds__(row_threads)
    to_unit_length_backward(std::int64_t rows, std::int64_t columns, const S* dy, std::int64_t dy_stride, S* x,
                            std::int64_t x_stride) {
  const RowOfWarp<S> of;
  if (of.row >= rows) return;
  const S* const gradient = dy + of.row * dy_stride;
  S* const in = x + of.row * x_stride;
  const double squared = of.product(in, in, columns), along = of.product(in, gradient, columns);
  const double factor = squared > 0 ? 1 / std::sqrt(squared) : 0, back = squared > 0 ? along / squared : 0;
  for (std::int64_t i = of.lane; i < columns; i += warp_lanes)
    in[i] = static_cast<S>(factor * (static_cast<double>(gradient[i]) - back * static_cast<double>(in[i])));
}

unsigned blocks_of_rows(std::int64_t rows) { return static_cast<unsigned>((rows + row_warps - 1) / row_warps); }

}  // namespace

void pool_texts(Queue queue, View x, const std::int32_t* text_of, const TextPooling& pooling, View y, View present) {
  const KernelSpan span(Work::elementwise, "pool_texts", queue.stream);
  const std::int32_t* const texts = on_device(queue, text_of, x.shape.rows);
  in_pooled_types(x.dtype, y.dtype, [&]<class X, class Y>() {
    using S = Compute<X>;
    launch(pool<S, X, Y>, {static_cast<unsigned>(y.shape.rows), pool_threads}, queue, x.as<const X>(), x.stride, texts,
           pooling, y.shape.cols, y.as<Y>(), y.stride, present.as<S>(), present.stride);
  });
}

void pool_texts_backward(Queue queue, View dy, const std::int32_t* text_of, const TextPooling& pooling, View dx) {
  const KernelSpan span(Work::elementwise, "pool_texts_backward", queue.stream);
  const std::int32_t* const texts = on_device(queue, text_of, dx.shape.rows);
  in_pooled_types(dx.dtype, dy.dtype, [&]<class X, class Y>() {
    launch(pool_backward<Compute<X>, Y, X>, {static_cast<unsigned>(dy.shape.rows), pool_threads}, queue,
           dy.as<const Y>(), dy.stride, texts, pooling, dx.shape.cols, dx.as<X>(), dx.stride);
  });
}

void unit_length(Queue queue, View x, View y) {
  const KernelSpan span(Work::elementwise, "unit_length", queue.stream);
  in_compute_type(x.dtype, [&]<class S>() {
    launch(to_unit_length<S>, {blocks_of_rows(x.shape.rows), row_threads}, queue, x.shape.rows, x.shape.cols,
           x.as<const S>(), x.stride, y.as<S>(), y.stride);
  });
}

void unit_length_backward(Queue queue, View dy, View x) {
  const KernelSpan span(Work::elementwise, "unit_length_backward", queue.stream);
  in_compute_type(x.dtype, [&]<class S>() {
    launch(to_unit_length_backward<S>, {blocks_of_rows(x.shape.rows), row_threads}, queue, x.shape.rows, x.shape.cols,
           dy.as<const S>(), dy.stride, x.as<S>(), x.stride);
  });
}

}  // namespace monomorph::cuda
