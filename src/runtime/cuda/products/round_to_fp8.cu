#include "runtime/cuda/products/round_to_fp8.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>

#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/amax_history.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <algorithm>

namespace monomorph::cuda {
namespace {

/// Elements of an access of 8 bits each: what a thread reads of a row, and writes of a row and of a column.
constexpr int width = 16;
constexpr int tile = 64, parts_of_tile = tile / width;
constexpr unsigned threads = tile * parts_of_tile;
/// Blocks of a multiprocessor.
constexpr int blocks_at_once = 8;

/// Elements of a tile as they are written to its rows, each row a word longer than that, so that those of a column lie
/// in different banks.
template <class F> struct RoundedTile {
  static constexpr int pitch = tile + static_cast<int>(sizeof(std::uint32_t));
  std::uint32_t words[tile * pitch / sizeof(std::uint32_t)];
  MONOMORPH_HOST_DEVICE F* row(int i) { return reinterpret_cast<F*>(words) + i * pitch; }
};

struct OfTensor {};

__device__ inline void join_maximum(std::int64_t* to, std::uint32_t magnitude) {
  atomicMax(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(magnitude));
}

/// 16 elements of a row: rounded, and the greatest of their magnitudes.
template <class F> struct RoundedPart {
  Pack<F, width> rounded;
  std::uint32_t greatest = 0;

  __device__ RoundedPart(const BFloat16* x, float scale) {
    constexpr int half = width / 2;
    MONOMORPH_UNROLL
    for (int first = 0; first < width; first += half) {
      const auto read = *reinterpret_cast<const Pack<BFloat16, half>*>(x + first);
      MONOMORPH_UNROLL
      for (int i = 0; i < half; ++i) {
        greatest = Greater()(greatest, magnitude_of(read.at[i]));
        narrow(widen(read.at[i]) * scale, rounded.at[first + i]);
      }
    }
  }
};

template <class F> struct Destination {
  F *as_it_is_RC, *transposed_CR;  ///< contiguous; null: not wanted
};

/// A block takes a column of tiles, or every so many of its tiles.
template <class F>
__global__ void __launch_bounds__(threads)
    round_tiles(const BFloat16* x, std::int64_t stride, std::int64_t rows, std::int64_t cols, const float* scale,
                Destination<F> to, std::int64_t* maximum) {
  RoundedTile<F>& of_tile = block_memory<RoundedTile<F>>();
  const int line = static_cast<int>(threadIdx.x) / parts_of_tile,
            first = static_cast<int>(threadIdx.x) % parts_of_tile * width;
  const std::int64_t first_col = std::int64_t{blockIdx.x} * tile;
  std::uint32_t greatest = 0;
  for (std::int64_t first_row = std::int64_t{blockIdx.y} * tile; first_row < rows;
       first_row += std::int64_t{gridDim.y} * tile) {
    if (const std::int64_t row = first_row + line, col = first_col + first; row < rows && col < cols) {
      const RoundedPart<F> part(x + row * stride + col, *scale);
      greatest = Greater()(greatest, part.greatest);
      if (to.as_it_is_RC != nullptr)
        *reinterpret_cast<Pack<F, width>*>(to.as_it_is_RC + row * cols + col) = part.rounded;
      if (to.transposed_CR != nullptr) {
        MONOMORPH_UNROLL
        for (int i = 0; i < width; i += 4)
          *reinterpret_cast<Pack<F, 4>*>(of_tile.row(line) + first + i) =
              *reinterpret_cast<const Pack<F, 4>*>(part.rounded.at + i);
      }
    }
    if (to.transposed_CR == nullptr) continue;
    __syncthreads();
    if (const std::int64_t col = first_col + line, row = first_row + first; row < rows && col < cols) {
      Pack<F, width> column;
      MONOMORPH_UNROLL
      for (int i = 0; i < width; ++i) column.at[i] = of_tile.row(first + i)[line];
      *reinterpret_cast<Pack<F, width>*>(to.transposed_CR + col * rows + row) = column;
    }
    __syncthreads();
  }
  if (maximum == nullptr) return;
  greatest = joined_in_block<OfTensor>(greatest, Greater());
  if (threadIdx.x == 0) join_maximum(maximum, greatest);
}

template <class F>
void start(Queue queue, const View& x, const float* scale, const RoundedTo& to, std::int64_t* maximum) {
  const auto tiles = [](std::int64_t n) { return (n + tile - 1) / tile; };
  constexpr std::int64_t most = std::int64_t{multiprocessors_to_fill} * blocks_at_once;
  const std::int64_t across = tiles(x.shape.cols),
                     down = std::clamp<std::int64_t>(most / across, 1, tiles(x.shape.rows));
  launch(round_tiles<F>, {{static_cast<unsigned>(across), static_cast<unsigned>(down)}, threads}, queue,
         x.as<const BFloat16>(), x.stride, x.shape.rows, x.shape.cols, scale,
         Destination<F>{to.as_it_is_RC.as<F>(), to.transposed_CR.as<F>()}, maximum);
}

/// A block for each tensor.
constexpr unsigned history_threads = 32;
__global__ void __launch_bounds__(history_threads)
    choose_scales(const BFloat16* history, std::int64_t updates, int margin, float* scales) {
  std::uint32_t greatest = 0;
  for (std::int64_t i = threadIdx.x; i < updates; i += history_threads)
    greatest = Greater()(greatest, magnitude_of(history[blockIdx.x * updates + i]));
  greatest = joined_in_warp(greatest, lanes_of_warp, Greater());
  if (threadIdx.x != 0) return;
  const int product = static_cast<int>(blockIdx.x) / scaled_tensors,
            tensor = static_cast<int>(blockIdx.x) % scaled_tensors;
  const float amax = of_magnitude(greatest);
  const bool is_gradient = tensor == static_cast<int>(ScaledTensor::dy);
  const float scale = is_gradient ? scale_of<E5M2>(amax, margin) : scale_of<E4M3>(amax, margin);
  float* const of_product = scales + product * numbers_of_scales;
  of_product[place_of_scale(tensor)] = scale;
  of_product[place_of_inverse(tensor)] = 1 / scale;
}

template <class M>
__global__ void __launch_bounds__(history_threads)
    record(HistoryRun<M> run, std::int64_t rows, const std::int64_t* maxima, const UpdateDecision* decision) {
  for (std::int64_t row = threadIdx.x; row < rows; row += history_threads) run.record(row, maxima[row], *decision);
}

}  // namespace

void round_to_fp8(Queue queue, View x, const float* scale, const RoundedTo& to, std::int64_t* maximum) {
  const DType dtype = to.as_it_is_RC.present() ? to.as_it_is_RC.dtype : to.transposed_CR.dtype;
  if (dtype == DType::e5m2)
    start<E5M2>(queue, x, scale, to, maximum);
  else
    start<E4M3>(queue, x, scale, to, maximum);
}

void amax_scales(Queue queue, View history, int margin, View scales) {
  launch(choose_scales, {static_cast<unsigned>(history.shape.rows), history_threads}, queue,
         history.as<const BFloat16>(), history.shape.cols, margin, scales.as<float>());
}

void record_amax(Queue queue, const ElementUpdate& run, std::int64_t first, Shape history, const std::int64_t* maxima,
                 const UpdateTerms& terms) {
  constexpr unsigned one = 1;
  in_element_type(run.master.dtype, [&]<class M>() {
    launch(record<M>, {one, history_threads}, queue, HistoryRun<M>(run, first, history), history.rows, maxima,
           terms.decision);
  });
}

}  // namespace monomorph::cuda
