#pragma once
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/fp8.hpp"

#include <algorithm>

/// Rounding to fp8 by tiles, of what a source makes of bf16 elements: each is made once and written as it is,
/// transposed, or both.
namespace monomorph::cuda {
namespace {

/// Elements of an access of 8 bits each: what a thread makes of a row, and writes of a row and of a column.
constexpr int rounded_width = 16, half_width = rounded_width / 2;
constexpr int tile = 64, parts_of_tile = tile / rounded_width;
constexpr unsigned tile_threads = tile * parts_of_tile;

using MadeElements = Pack<BFloat16, half_width>;  ///< which a source makes at once

/// Elements of a tile as they are written to its rows, each row a word longer than that, so that those of a column lie
/// in different banks.
template <class F> struct RoundedTile {
  static constexpr int pitch = tile + static_cast<int>(sizeof(std::uint32_t));
  std::uint32_t words[tile * pitch / sizeof(std::uint32_t)];
  MONOMORPH_HOST_DEVICE F* row(int i) { return reinterpret_cast<F*>(words) + i * pitch; }
};
template <class F, int n> struct RoundedTiles { RoundedTile<F> at[n]; };

struct OfTensor {};

__device__ inline void join_maximum(std::int64_t* to, std::uint32_t magnitude) {
  atomicMax(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(magnitude));
}

/// 16 elements of a row of each matrix, rounded.
template <class F, int n> struct RoundedParts {
  Pack<F, rounded_width> of[n];

  /// @return the greatest of the magnitudes of what was made, and of `greatest`
  template <class Source>
  __device__ std::uint32_t make(const Source& source, std::int64_t row, std::int64_t col, float scale,
                                std::uint32_t greatest) {
    MONOMORPH_UNROLL
    for (int first = 0; first < rounded_width; first += half_width) {
      MadeElements made[n];
      source(row, col + first, made);
      MONOMORPH_UNROLL
      for (int m = 0; m < n; ++m) {
        MONOMORPH_UNROLL
        for (int i = 0; i < half_width; ++i) {
          greatest = Greater()(greatest, magnitude_of(made[m].at[i]));
          narrow(widen(made[m].at[i]) * scale, of[m].at[first + i]);
        }
      }
    }
    return greatest;
  }
};

/// Of the matrices of a source side by side, C columns together.
template <class F> struct Destination {
  F *as_it_is_RC, *transposed_CR;  ///< contiguous; null: not wanted
};

/// A block takes a column of tiles, or every so many of its tiles, of each matrix.
/// @tparam Source `matrices`, and a call that makes 8 elements of each at a row and a column
/// @param rows, cols of one matrix
template <class F, class Source>
__global__ void __launch_bounds__(tile_threads)
    round_tiles(Source source, std::int64_t rows, std::int64_t cols, const float* scale, Destination<F> to,
                std::int64_t* maximum) {
  constexpr int n = Source::matrices;
  auto& of_tiles = block_memory<RoundedTiles<F, n>>();
  const int line = static_cast<int>(threadIdx.x) / parts_of_tile,
            first = static_cast<int>(threadIdx.x) % parts_of_tile * rounded_width;
  const std::int64_t first_col = std::int64_t{blockIdx.x} * tile;
  std::uint32_t greatest = 0;
  for (std::int64_t first_row = std::int64_t{blockIdx.y} * tile; first_row < rows;
       first_row += std::int64_t{gridDim.y} * tile) {
    if (const std::int64_t row = first_row + line, col = first_col + first; row < rows && col < cols) {
      RoundedParts<F, n> parts;
      greatest = parts.make(source, row, col, *scale, greatest);
      MONOMORPH_UNROLL
      for (int m = 0; m < n; ++m) {
        const Pack<F, rounded_width>& part = parts.of[m];
        if (to.as_it_is_RC != nullptr)
          *reinterpret_cast<Pack<F, rounded_width>*>(to.as_it_is_RC + (row * n + m) * cols + col) = part;
        if (to.transposed_CR == nullptr) continue;
        MONOMORPH_UNROLL
        for (int i = 0; i < rounded_width; i += 4)
          *reinterpret_cast<Pack<F, 4>*>(of_tiles.at[m].row(line) + first + i) =
              *reinterpret_cast<const Pack<F, 4>*>(part.at + i);
      }
    }
    if (to.transposed_CR == nullptr) continue;
    __syncthreads();
    if (const std::int64_t col = first_col + line, row = first_row + first; row < rows && col < cols) {
      MONOMORPH_UNROLL
      for (int m = 0; m < n; ++m) {
        Pack<F, rounded_width> column;
        MONOMORPH_UNROLL
        for (int i = 0; i < rounded_width; ++i) column.at[i] = of_tiles.at[m].row(first + i)[line];
        *reinterpret_cast<Pack<F, rounded_width>*>(to.transposed_CR + (m * cols + col) * rows + row) = column;
      }
    }
    __syncthreads();
  }
  if (maximum == nullptr) return;
  greatest = joined_in_block<OfTensor>(greatest, Greater());
  if (threadIdx.x == 0) join_maximum(maximum, greatest);
}

template <class F, class Source>
void round_made(Queue queue, const Source& source, std::int64_t rows, std::int64_t cols, const float* scale,
                const Destination<F>& to, std::int64_t* maximum) {
  constexpr int blocks_at_once = 8;  // of a multiprocessor
  constexpr std::int64_t most = std::int64_t{multiprocessors_to_fill} * blocks_at_once;
  const auto tiles = [](std::int64_t n) { return (n + tile - 1) / tile; };
  const std::int64_t across = tiles(cols), down = std::clamp<std::int64_t>(most / across, 1, tiles(rows));
  launch(round_tiles<F, Source>, {{static_cast<unsigned>(across), static_cast<unsigned>(down)}, tile_threads}, queue,
         source, rows, cols, scale, to, maximum);
}

}  // namespace
}  // namespace monomorph::cuda
