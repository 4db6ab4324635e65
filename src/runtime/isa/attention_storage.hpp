#pragma once
#include "attention_tile.hpp"
#include "half.hpp"

/// Tiles between the storage types of views and the type that is computed with.
namespace {

struct BFloat16 {
  std::uint16_t bits;
};
template <class S> struct ComputeOf { using Type = S; };
template <> struct ComputeOf<BFloat16> { using Type = float; };
template <> struct ComputeOf<Half> { using Type = float; };
template <class S> using Compute = typename ComputeOf<S>::Type;
template <class S> inline constexpr bool same_type = sizeof(S) == sizeof(Compute<S>);

MONOMORPH_INLINE float widen(BFloat16 x) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(x.bits) << 16); }
MONOMORPH_INLINE float widen(float x) { return x; }
MONOMORPH_INLINE double widen(double x) { return x; }
MONOMORPH_INLINE void narrow(float x, float& to) { to = x; }
MONOMORPH_INLINE void narrow(double x, double& to) { to = x; }
MONOMORPH_INLINE void narrow(float x, BFloat16& to) {
  const std::uint32_t bits = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  to.bits = static_cast<std::uint16_t>(x != x ? (bits >> 16) | 0x40u : rounded);
}

MONOMORPH_INLINE void narrow(float x, Half& to) { to = narrow_to_half(x); }

template <class S, class T> T dot(const T* a, const S* b, Index n) {
  Index i = 0;
  T sum = 0;
  if constexpr (same_type<S>) {
    Lanes<T> sums{};
    for (; i + lanes<T> <= n; i += lanes<T>) sums += load(a + i) * load(b + i);
    sum = sum_of<T>(sums);
  }
  for (; i < n; ++i) sum += a[i] * widen(b[i]);
  return sum;
}

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

template <class T> constexpr Index padded_rows(Index rows) { return round_up(round_up(rows, group_rows), lanes<T>); }

template <class S> bool usable_in_place(const Rows<S>& x) {
  return same_type<S> && x.cols % lanes<Compute<S>> == 0 && x.rows == padded_rows<Compute<S>>(x.rows);
}

template <class S, class T> void copy_tile(const Rows<S>& x, T* to) {
  const Index width = round_up(x.cols, lanes<T>), rows = padded_rows<T>(x.rows);
  for (Index row = 0; row < rows; ++row) {
    const S* from = x.data + row * x.stride;
    const Index used = row < x.rows ? x.cols : 0;
    for (Index i = 0; i < used; ++i) to[row * width + i] = widen(from[i]);
    for (Index i = used; i < width; ++i) to[row * width + i] = 0;
  }
}

/// The tile as it lies in memory if that will do, or a copy in `workspace`.
template <class S, class T> Tile<T> read_tile(const Rows<S>& x, T* workspace) {
  if constexpr (same_type<S>)
    if (usable_in_place(x)) return {x.data, x.stride};
  copy_tile(x, workspace);
  return {workspace, round_up(x.cols, lanes<T>)};
}

template <class T, class S> void write_tile(const T* from, const Rows<S>& x) {
  const Index width = round_up(x.cols, lanes<T>);
  for (Index row = 0; row < x.rows; ++row)
    for (Index i = 0; i < x.cols; ++i) narrow(from[row * width + i], x.data[row * x.stride + i]);
}

/// Column i of the tile becomes row i of `to`.
template <class T> void transpose(const Tile<T>& tile, Index rows, Index columns, T* to, Index to_row) {
  constexpr Index width = lanes<T>;
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
