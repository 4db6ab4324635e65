#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/layers/rotation.hpp"

namespace monomorph::cuda {
namespace {

constexpr int rotary_threads = 256;
/// That a thread rotates by angles which it reads once.
constexpr int heads_of_thread = 4;

template <class T> struct Rotation {
  using S = Compute<T>;
  Rows<T> x;
  T* high;  ///< where H/2 features have gone by
  Angles<S> angles;
  int rows, heads, half;
  S direction;  ///< 1, or -1 to rotate back
};

/// One pack of the angles of one row, for heads head, head + step, …. All are read before one is written.
template <int width, class T>
__device__ void rotate_heads(const Rotation<T>& r, int row, int head, int step, int column) {
  using S = Compute<T>;
  const std::int64_t position = r.angles.position(row);
  const auto cos = read_pack<S, width>(r.angles.cos.data + position * r.angles.cos.stride + column);
  auto sine = read_pack<S, width>(r.angles.sin.data + position * r.angles.sin.stride + column);
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) sine.at[i] = r.direction * sine.at[i];

  const std::int64_t first = row * r.x.stride + std::int64_t{head} * 2 * r.half + column;
  const std::int64_t between = std::int64_t{step} * 2 * r.half;
  Halves<S, width> x[heads_of_thread]{};
  MONOMORPH_UNROLL
  for (int i = 0; i < heads_of_thread; ++i)
    if (head + i * step < r.heads)
      x[i] = {read_pack<S, width>(r.x.data + first + i * between), read_pack<S, width>(r.high + first + i * between)};
  MONOMORPH_UNROLL
  for (int i = 0; i < heads_of_thread; ++i) {
    if (head + i * step >= r.heads) return;
    rotate(x[i], cos, sine);
    write_pack(x[i].low, r.x.data + first + i * between);
    write_pack(x[i].high, r.high + first + i * between);
  }
}

/// A thread has a pack of half a head, in up to four heads of a row.
template <int width, class T> __global__ void __launch_bounds__(rotary_threads) rotate_rows(Rotation<T> r) {
  const int packs = r.half / width, step = (r.heads + heads_of_thread - 1) / heads_of_thread;
  const int threads = step * packs, across = static_cast<int>(gridDim.x * blockDim.x);
  const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int down = static_cast<int>(gridDim.y * blockDim.y);
  for (int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y); row < r.rows; row += down)
    for (int i = first; i < threads; i += across) rotate_heads<width>(r, row, i / packs, step, i % packs * width);
}

template <int width, class T> void start(Queue queue, const Rotation<T>& r) {
  const std::int64_t head_groups = (r.heads + heads_of_thread - 1) / heads_of_thread;
  launch(rotate_rows<width, T>, shape_of({r.rows, head_groups * (r.half / width)}, 1), queue, r);
}

}  // namespace

void rotary(Queue queue, View x, View cos, View sin, std::int64_t tokens, std::int64_t first_position, bool inverse,
            const std::int32_t* document_starts) {
  const KernelSpan span(Work::elementwise, "rotary", queue.stream);
  if (!x.present()) return;
  const std::int64_t half = cos.shape.cols, rows = x.shape.rows;
  in_element_type(x.dtype, [&]<class T>() {
    using S = Compute<T>;
    const Rotation<T> r{{x.as<T>(), x.stride},
                        x.as<T>() + half,
                        angles_of<S>(queue, cos, sin, first_position, tokens, document_starts, rows),
                        static_cast<int>(rows),
                        static_cast<int>(x.shape.cols / (2 * half)),
                        static_cast<int>(half),
                        inverse ? S(-1) : S(1)};
    constexpr int width = pack_width<T, S>();
    const bool packed = half % width == 0 && rows_start_access(x) && rows_start_access(cos) && rows_start_access(sin);
    if (packed)
      start<width>(queue, r);
    else
      start<1>(queue, r);
  });
}

}  // namespace monomorph::cuda
