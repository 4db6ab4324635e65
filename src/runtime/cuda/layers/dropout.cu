#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/before_run.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/launch/philox_words.hpp"
#include "runtime/kernels/dropout_stream.hpp"
#include "runtime/kernels/dtypes.hpp"

namespace monomorph::cuda {
namespace {

// Features are drawn in groups of 64 by sixteen Philox counters, of which counter l has the random words of features l,
// 16 + l, 32 + l and 48 + l. So a thread takes the features of some counters that follow each other: four packs, 16
// features apart.
constexpr int counters = 16, words_of_counter = 4;

/// What all elements share of one run of a kernel.
struct DropoutRun {
  std::uint32_t key0, key1;
  std::uint64_t first_sample;
};

template <class T> struct Dropout {
  using S = Compute<T>;
  Extent extent;
  Rows<const T> x, residual;
  Rows<T> y;
  OfRun<DropoutRun> run;
  std::uint32_t drop_below;
  S kept;
  std::int64_t tokens;  ///< of a sample
};

/// The words of one counter of a row.
__device__ inline PhiloxWords words_at(const DropoutRun& run, std::uint32_t counter, std::uint32_t position,
                                       std::uint64_t sample) {
  return philox_words(counter, position, static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32),
                      run.key0, run.key1);
}

/// Of each word of some counters, the pack of a row that it is for; zeros after the row's end.
template <class S, int width> struct Packs { Pack<S, width> of[words_of_counter]; };
template <int width, class T>
__device__ Packs<Compute<T>, width> packs_at(const T* row, std::int64_t first, std::int64_t cols) {
  Packs<Compute<T>, width> packs{};
  MONOMORPH_UNROLL
  for (int word = 0; word < words_of_counter; ++word) {
    const std::int64_t column = first + word * counters;
    if (column < cols) packs.of[word] = read_pack<Compute<T>, width>(row + column);
  }
  return packs;
}

/// The features of `width` counters from one on: y = x · factor, or residual + x · factor. All are read first, as y may
/// be what is read.
template <bool adds, int width, class T>
__device__ void drop(const Dropout<T>& d, const DropoutRun& run, std::int64_t row, std::uint32_t counter) {
  using S = Compute<T>;
  const std::int64_t first =
      static_cast<std::int64_t>(counter / counters) * counters * words_of_counter + counter % counters;
  auto y = packs_at<width>(d.x.data + row * d.x.stride, first, d.extent.cols);
  Packs<S, width> residual;
  if constexpr (adds) residual = packs_at<width>(d.residual.data + row * d.residual.stride, first, d.extent.cols);
  const std::uint64_t sample = run.first_sample + static_cast<std::uint64_t>(row / d.tokens);
  const auto position = static_cast<std::uint32_t>(row % d.tokens);
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) {
    const PhiloxWords words = words_at(run, counter + static_cast<unsigned>(i), position, sample);
    MONOMORPH_UNROLL
    for (int word = 0; word < words_of_counter; ++word) {
      const S dropped = y.of[word].at[i] * (words.of[word] < d.drop_below ? S(0) : d.kept);
      y.of[word].at[i] = adds ? residual.of[word].at[i] + dropped : dropped;
    }
  }
  MONOMORPH_UNROLL
  for (int word = 0; word < words_of_counter; ++word) {
    const std::int64_t column = first + word * counters;
    if (column < d.extent.cols) write_global_pack(y.of[word], d.y.data + row * d.y.stride + column);
  }
}

template <bool adds, int width, class T> __global__ void __launch_bounds__(map_threads) drop_rows(Dropout<T> d) {
  constexpr std::int64_t group = counters * words_of_counter, threads = counters / width;
  const std::int64_t row_threads = (d.extent.cols + group - 1) / group * threads;
  const auto first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const DropoutRun run = d.run.now();
  for (std::int64_t row = first_row; row < d.extent.rows; row += static_cast<std::int64_t>(gridDim.y) * blockDim.y)
    for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < row_threads;
         i += static_cast<std::int64_t>(gridDim.x) * blockDim.x)
      drop<adds, width>(d, run, row, static_cast<std::uint32_t>(i) * width);
}

template <bool adds, int width, class T> void start(Queue queue, const Dropout<T>& d) {
  constexpr std::int64_t group = counters * words_of_counter;
  const Extent threads{d.extent.rows, (d.extent.cols + group - 1) / group * (counters / width)};
  launch(drop_rows<adds, width, T>, shape_of(threads, 1), queue, d);
}

DropoutRun drawn_by(const DropoutKey& key) {
  const detail::DropoutStream stream = detail::dropout_stream(key);
  return {stream.key[0], stream.key[1], key.first_sample};
}

OfRun<DropoutRun> dropout_run(const DropoutKey& key) {
  const DropoutRun run = drawn_by(key);
  if (key.of_run == nullptr) return {run};
  return {run, made_before_run([key] { return drawn_by(of_this_run(key)); })};
}

template <bool adds>
void apply(Queue queue, const View& x, const View& residual, const View& y, const DropoutKey& key) {
  if (!x.present()) return;
  const detail::DropoutStream stream = detail::dropout_stream(key);
  const OfRun<DropoutRun> run = dropout_run(key);
  in_element_type(x.dtype, [&]<class T>() {
    using S = Compute<T>;
    const Dropout<T> d{{x.shape.rows, x.shape.cols},
                       {x.as<const T>(), x.stride},
                       {residual.as<const T>(), residual.stride},
                       {y.as<T>(), y.stride},
                       run,
                       stream.drop_below,
                       static_cast<S>(stream.kept_factor),
                       key.tokens_per_sample};
    constexpr int width = pack_width<T>();
    const bool packed = x.shape.cols % width == 0 && rows_start_access(x) && rows_start_access(y) &&
                        (!adds || rows_start_access(residual));
    if (packed)
      start<adds, width>(queue, d);
    else
      start<adds, 1>(queue, d);
  });
}

}  // namespace

void dropout(Queue queue, View x, View y, const DropoutKey& key) {
  const KernelSpan span(Work::elementwise, "dropout", queue.stream);
  apply<false>(queue, x, View{}, y, key);
}
void dropout_add(Queue queue, View x, View residual, View y, const DropoutKey& key) {
  const KernelSpan span(Work::elementwise, "dropout_add", queue.stream);
  apply<true>(queue, x, residual, y, key);
}

}  // namespace monomorph::cuda
