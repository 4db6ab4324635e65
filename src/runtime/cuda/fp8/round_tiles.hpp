#pragma once
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/blocks_to_fill.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/most_blocks.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/cuda/sums/join_maximum.hpp"
#include "runtime/kernels/fp8.hpp"

#include <algorithm>

/// Matrices of 8 bits an element that are written as they are, transposed, or both, by tiles: what a source rounds, or
/// has of these bits.
namespace monomorph::cuda {
namespace {

/// Elements of an access of 8 bits each: what a thread makes of a row, and writes of a row and of a column.
constexpr int rounded_width = 16, half_width = rounded_width / 2;
constexpr int tile = 64, parts_of_tile = tile / rounded_width;
constexpr unsigned tile_threads = tile * parts_of_tile;

using MadeElements = Pack<BFloat16, half_width>;  ///< which a maker makes at once

/// Elements of a tile as they are written to its rows, each row a word longer than that, so that those of a column lie
/// in different banks.
template <class F> struct RoundedTile {
  static constexpr int pitch = tile + static_cast<int>(sizeof(std::uint32_t));
  std::uint32_t words[tile * pitch / sizeof(std::uint32_t)];
  MONOMORPH_HOST_DEVICE F* row(int i) { return reinterpret_cast<F*>(words) + i * pitch; }
};
template <class F, int n> struct RoundedTiles { RoundedTile<F> at[n]; };

struct OfTensor {};

template <class F> using RoundedPart = Pack<F, rounded_width>;  ///< of a row, which a source gives at once

/// A source that rounds what a maker makes.
/// @tparam Maker `matrices`, and a call that makes 8 elements of each at a row and a column
template <class F, class Maker> struct Rounding {
  static constexpr int matrices = Maker::matrices;
  Maker maker;
  const float* scale;

  /// @return the greatest of the magnitudes of what was made
  __device__ std::uint32_t operator()(std::int64_t row, std::int64_t col, RoundedPart<F> (&parts)[matrices]) const {
    std::uint32_t greatest = 0;
    const float by = *scale;
    MONOMORPH_UNROLL
    for (int first = 0; first < rounded_width; first += half_width) {
      MadeElements made[matrices];
      maker(row, col + first, made);
      MONOMORPH_UNROLL
      for (int m = 0; m < matrices; ++m) {
        MONOMORPH_UNROLL
        for (int i = 0; i < half_width; ++i) {
          greatest = Greater()(greatest, magnitude_of(made[m].at[i]));
          narrow(widen(made[m].at[i]) * by, parts[m].at[first + i]);
        }
      }
    }
    return greatest;
  }
};

template <class F> __device__ void put_part(RoundedTile<F>& of, int line, int first, const RoundedPart<F>& part) {
  MONOMORPH_UNROLL
  for (int i = 0; i < rounded_width; i += 4)
    *reinterpret_cast<Pack<F, 4>*>(of.row(line) + first + i) = *reinterpret_cast<const Pack<F, 4>*>(part.at + i);
}
template <class F> __device__ RoundedPart<F> part_of_column(RoundedTile<F>& of, int column, int first) {
  RoundedPart<F> part;
  MONOMORPH_UNROLL
  for (int i = 0; i < rounded_width; ++i) part.at[i] = of.row(first + i)[column];
  return part;
}

/// Of the matrices of a source side by side, C columns together.
template <class F> struct Destination {
  F *as_it_is_RC, *transposed_CR;  ///< contiguous; null: not wanted
};

/// A block takes a column of tiles, or every so many of its tiles, of each matrix.
/// @tparam Source `matrices`, and a call that gives a part of a row of each @param rows, cols of one matrix
/// @param maximum null, or what is joined with the greatest that the source returns
template <class F, class Source>
__global__ void __launch_bounds__(tile_threads)
    write_tiles(Source source, std::int64_t rows, std::int64_t cols, Destination<F> to, std::int64_t* maximum) {
  constexpr int n = Source::matrices;
  auto& of_tiles = block_memory<RoundedTiles<F, n>>();
  const int line = static_cast<int>(threadIdx.x) / parts_of_tile,
            first = static_cast<int>(threadIdx.x) % parts_of_tile * rounded_width;
  const std::int64_t first_col = std::int64_t{blockIdx.x} * tile;
  std::uint32_t greatest = 0;
  for (std::int64_t first_row = std::int64_t{blockIdx.y} * tile; first_row < rows;
       first_row += std::int64_t{gridDim.y} * tile) {
    if (const std::int64_t row = first_row + line, col = first_col + first; row < rows && col < cols) {
      RoundedPart<F> parts[n];
      greatest = Greater()(greatest, source(row, col, parts));
      MONOMORPH_UNROLL
      for (int m = 0; m < n; ++m) {
        if (to.as_it_is_RC != nullptr)
          *reinterpret_cast<RoundedPart<F>*>(to.as_it_is_RC + (row * n + m) * cols + col) = parts[m];
        if (to.transposed_CR != nullptr) put_part(of_tiles.at[m], line, first, parts[m]);
      }
    }
    if (to.transposed_CR == nullptr) continue;
    __syncthreads();
    if (const std::int64_t col = first_col + line, row = first_row + first; row < rows && col < cols) {
      MONOMORPH_UNROLL
      for (int m = 0; m < n; ++m)
        *reinterpret_cast<RoundedPart<F>*>(to.transposed_CR + (m * cols + col) * rows + row) =
            part_of_column(of_tiles.at[m], line, first);
    }
    __syncthreads();
  }
  if (maximum == nullptr) return;
  greatest = joined_in_block<OfTensor>(greatest, Greater());
  if (threadIdx.x == 0) join_maximum(maximum, greatest);
}

template <class F, class Source>
void start_tiles(Queue queue, const Source& source, std::int64_t rows, std::int64_t cols, const Destination<F>& to,
                 std::int64_t* maximum) {
  constexpr int blocks_at_once = 8;  // of a multiprocessor
  constexpr std::int64_t most = std::int64_t{multiprocessors_to_fill} * blocks_at_once;
  const auto tiles = [](std::int64_t n) { return (n + tile - 1) / tile; };
  const std::int64_t across = tiles(cols), down = most_blocks(std::clamp<std::int64_t>(most / across, 1, tiles(rows)));
  launch(write_tiles<F, Source>, {{static_cast<unsigned>(across), static_cast<unsigned>(down)}, tile_threads}, queue,
         source, rows, cols, to, maximum);
}

template <class F, class Maker>
void round_made(Queue queue, const Maker& maker, std::int64_t rows, std::int64_t cols, const float* scale,
                const Destination<F>& to, std::int64_t* maximum) {
  start_tiles(queue, Rounding<F, Maker>{maker, scale}, rows, cols, to, maximum);
}

}  // namespace
}  // namespace monomorph::cuda
