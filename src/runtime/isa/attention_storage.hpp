#pragma once
#include "attention_tile.hpp"
#include "runtime/kernels/dtypes.hpp"

/// Tiles between the storage types of views and the type that is computed with.
namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

/// Rows of `cols` elements in memory.
template <class S> struct Rows {
  S* data;
  Index stride, rows, cols;
};
/// Padded with zeros to whole vectors and to whole groups of rows.
template <class T> struct Tile {
  const T* data;
  Index stride;
};

template <class T> constexpr Index padded_rows(Index rows) {
  return round_up(round_up(rows, group_rows), lane_count<T>);
}

template <class S> bool usable_in_place(const Rows<S>& x) {
  return computed_as_stored<S> && x.cols % lane_count<Compute<S>> == 0 && x.rows == padded_rows<Compute<S>>(x.rows);
}

template <class S, class T> void copy_tile(const Rows<S>& x, T* to) {
  const Index width = round_up(x.cols, lane_count<T>), rows = padded_rows<T>(x.rows);
  for (Index row = 0; row < rows; ++row) {
    const S* from = x.data + row * x.stride;
    const Index used = row < x.rows ? x.cols : 0;
    for (Index i = 0; i < used; ++i) to[row * width + i] = widen(from[i]);
    for (Index i = used; i < width; ++i) to[row * width + i] = 0;
  }
}

/// The tile as it lies in memory if that will do, or a copy in `workspace`.
template <class S, class T> Tile<T> read_tile(const Rows<S>& x, T* workspace) {
  if constexpr (computed_as_stored<S>)
    if (usable_in_place(x)) return {x.data, x.stride};
  copy_tile(x, workspace);
  return {workspace, round_up(x.cols, lane_count<T>)};
}

template <class T, class S> void write_tile(const T* from, const Rows<S>& x) {
  const Index width = round_up(x.cols, lane_count<T>);
  for (Index row = 0; row < x.rows; ++row)
    for (Index i = 0; i < x.cols; ++i) narrow(from[row * width + i], x.data[row * x.stride + i]);
}

/// Column i of the tile becomes row i of `to`.
template <class T> void transpose(const Tile<T>& tile, Index rows, Index columns, T* to, Index to_row) {
  constexpr Index width = lane_count<T>;
  for (Index row = 0; row < rows; row += width)
    for (Index column = 0; column < columns; column += width) {
      Lanes<T> square[width];
#pragma GCC unroll 16
      for (Index i = 0; i < width; ++i) square[i] = load(tile.data + (row + i) * tile.stride + column);
      transpose_square<T>(square);
#pragma GCC unroll 16
      for (Index i = 0; i < width; ++i) store(to + (column + i) * to_row + row, square[i]);
    }
}

}  // namespace
}  // namespace monomorph::cpu::MONOMORPH_ISA
