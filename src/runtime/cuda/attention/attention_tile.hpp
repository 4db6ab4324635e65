#pragma once
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/fused.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/kernels/elements.hpp"

#include <cmath>
#include <concepts>
#include <cstdint>

/// Products of tiles of attention, by the threads of one block. A block's threads form a square: each computes the
/// elements (y + 16 i, x + 16 j) of a tile, in registers. Sums over keys or features have one order.
namespace monomorph::cuda {
namespace {

constexpr int square = 16, tile_threads = square * square, warp_threads = 32;

constexpr int smaller(int a, int b) { return a < b ? a : b; }

/// @tparam T computes   @tparam features that a head has at most
template <class T, int features> struct TileOf {
  using Number = T;
  /// Rows of a tile that are a thread's: as many as leave registers for its part of two sums of rows of features.
  static constexpr int rows = sizeof(T) == 4 ? smaller(4, 512 / features) : smaller(2, 256 / features);
  static constexpr int columns = features / square;  ///< of a row of features, a thread's
  static constexpr int side = square * rows;         ///< queries or keys of a tile
  static constexpr int slice = warp_threads;         ///< features that lie in the block's memory at a time
  static constexpr int block_rows = smaller(side, 16'384 / (features * static_cast<int>(sizeof(T))));
  static constexpr int most_features = features;
  /// At least so many blocks share a processor: one computes while the other waits.
  static constexpr int blocks = sizeof(T) == 4 && features <= 64 ? 2 : 1;
};

template <class Tile> struct TileMemory {
  using T = typename Tile::Number;
  struct Slices {
    T left[Tile::slice][Tile::side + 1], right[Tile::slice][Tile::side + 1];
  };
  T weights[Tile::side][Tile::side + 1];
  union {
    Slices slices;
    T rows[Tile::block_rows][Tile::most_features];
  };
};

template <class Tile> using TileProduct = typename Tile::Number[Tile::rows][Tile::rows];
template <class Tile> using TileSums = typename Tile::Number[Tile::rows][Tile::columns];

/// Calls f with where elements lie, as the type that they are stored in. Kernels are made for the type that computes
/// alone (docs/why/build_time.md); the branch stands around the loops that read and write.
template <class T, class F> __device__ void in_stored_type(const AnyElements& elements, F f) {
  if constexpr (std::same_as<T, double>)
    f(static_cast<double*>(elements.data));
  else if (elements.dtype == DType::bf16)
    f(static_cast<BFloat16*>(elements.data));
  else if (elements.dtype == DType::fp16)
    f(static_cast<Half*>(elements.data));
  else
    f(static_cast<float*>(elements.data));
}

/// Rows of one head in a tile, of which n are there: the tile's others are past the end.
struct TileRows {
  AnyElements elements;
  int stride, n, features;

  /// @param data the elements, as their type
  template <class S> __device__ Compute<S> at(const S* data, int row, int feature) const {
    return row < n && feature < features ? widen(data[row * stride + feature]) : Compute<S>{0};
  }
};

__device__ inline int thread_y() { return static_cast<int>(threadIdx.x) / square; }
__device__ inline int thread_x() { return static_cast<int>(threadIdx.x) % square; }

/// Features from `first` on, transposed.
template <class Tile, class Slice> __device__ void read_slice(const TileRows& rows, int first, Slice& to) {
  const int feature = static_cast<int>(threadIdx.x) % Tile::slice, begin = static_cast<int>(threadIdx.x) / Tile::slice;
  in_stored_type<typename Tile::Number>(rows.elements, [&](const auto* data) {
    MONOMORPH_UNROLL_BY_4
    for (int i = 0; i < Tile::side; i += tile_threads / Tile::slice)
      to[feature][begin + i] = rows.at(data, begin + i, first + feature);
  });
}

/// product = left · right^T, over features.
template <class Tile>
__device__ void multiply_rows(TileMemory<Tile>& memory, const TileRows& left, const TileRows& right,
                              TileProduct<Tile>& product) {
  using T = typename Tile::Number;
  const int y = thread_y(), x = thread_x();
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::rows; ++j) product[i][j] = 0;
  }
  for (int first = 0; first < left.features; first += Tile::slice) {
    __syncthreads();  // the last slice has been read
    read_slice<Tile>(left, first, memory.slices.left);
    read_slice<Tile>(right, first, memory.slices.right);
    __syncthreads();
    MONOMORPH_UNROLL_BY_4
    for (int feature = 0; feature < Tile::slice; ++feature) {
      T a[Tile::rows], b[Tile::rows];
      MONOMORPH_UNROLL
      for (int i = 0; i < Tile::rows; ++i) a[i] = memory.slices.left[feature][y + i * square];
      MONOMORPH_UNROLL
      for (int j = 0; j < Tile::rows; ++j) b[j] = memory.slices.right[feature][x + j * square];
      MONOMORPH_UNROLL
      for (int i = 0; i < Tile::rows; ++i) {
        MONOMORPH_UNROLL
        for (int j = 0; j < Tile::rows; ++j) product[i][j] = fused(a[i], b[j], product[i][j]);
      }
    }
  }
}

/// Where a thread's weight (i, j) lies.
template <class Tile> __device__ typename Tile::Number& weight_of_thread(TileMemory<Tile>& memory, int i, int j) {
  return memory.weights[thread_y() + i * square][thread_x() + j * square];
}

/// What each thread has of the weights, for all to read behind a barrier.
template <class Tile> __device__ void write_weights(TileMemory<Tile>& memory, const TileProduct<Tile>& weights) {
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::rows; ++j) weight_of_thread<Tile>(memory, i, j) = weights[i][j];
  }
}

/// sums += weights · row, which is row `first + row` of the tile.
/// @tparam skips_zeros what has the weight 0 adds nothing, even if it is NaN
template <class Tile, bool skips_zeros>
__device__ void add_row(const TileMemory<Tile>& memory, int first, int row, TileSums<Tile>& sums) {
  using T = typename Tile::Number;
  T weight[Tile::rows], value[Tile::columns];
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) weight[i] = memory.weights[thread_y() + i * square][first + row];
  MONOMORPH_UNROLL
  for (int j = 0; j < Tile::columns; ++j) value[j] = memory.rows[row][thread_x() + j * square];
  MONOMORPH_UNROLL
  for (int i = 0; i < Tile::rows; ++i) {
    if (skips_zeros && weight[i] == 0) continue;
    MONOMORPH_UNROLL
    for (int j = 0; j < Tile::columns; ++j) sums[i][j] = fused(weight[i], value[j], sums[i][j]);
  }
}

/// sums += weights · rows, over the rows of a tile. Its first barrier is behind the writing of the weights. What the
/// mask hides has the weight 0, which keeps it out unless it is an infinity or NaN: where there is one, zeros are
/// skipped.
template <class Tile>
__device__ void add_weighted_rows(TileMemory<Tile>& memory, const TileRows& rows, TileSums<Tile>& sums) {
  using T = typename Tile::Number;
  for (int first = 0; first < Tile::side; first += Tile::block_rows) {
    __syncthreads();  // what lay in the memory has been read, and the weights are written
    T zero = 0;       // times each number: NaN as soon as one of them is not finite
    in_stored_type<T>(rows.elements, [&](const auto* data) {
      MONOMORPH_UNROLL_BY_4
      for (int i = 0; i < Tile::block_rows * Tile::most_features; i += tile_threads) {
        const int element = i + static_cast<int>(threadIdx.x);
        const int row = element / Tile::most_features, feature = element % Tile::most_features;
        const T value = rows.at(data, first + row, feature);
        memory.rows[row][feature] = value;
        zero = fused(value, T{0}, zero);
      }
    });
    if (__syncthreads_or(zero != 0) == 0) {
      MONOMORPH_UNROLL_BY_4
      for (int row = 0; row < Tile::block_rows; ++row) add_row<Tile, false>(memory, first, row, sums);
    } else {
      MONOMORPH_KEEP_LOOP
      for (int row = 0; row < Tile::block_rows; ++row) add_row<Tile, true>(memory, first, row, sums);
    }
  }
}

/// Each row times its factor.
template <class Tile, class Factor>
__device__ void write_sums(const TileSums<Tile>& sums, const TileRows& to, Factor factor) {
  in_stored_type<typename Tile::Number>(to.elements, [&](auto* data) {
    MONOMORPH_UNROLL
    for (int i = 0; i < Tile::rows; ++i) {
      const int row = thread_y() + i * square;
      MONOMORPH_UNROLL
      for (int j = 0; j < Tile::columns; ++j) {
        const int feature = thread_x() + j * square;
        if (row < to.n && feature < to.features) narrow(sums[i][j] * factor(i), data[row * to.stride + feature]);
      }
    }
  });
}

/// Of the threads that have the same row, in an order that gives each of them the same bits.
template <class T, class F> __device__ T over_row(T value, F combine) {
  MONOMORPH_UNROLL
  for (int distance = square / 2; distance > 0; distance /= 2)
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFu, value, distance));
  return value;
}
struct Larger {
  template <class T> __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
struct Sum {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};

}  // namespace
}  // namespace monomorph::cuda
