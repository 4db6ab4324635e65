#pragma once
#include <cstdint>
#include "runtime/isa/vector_math.hpp"

/// Products of small tiles, in vectors of the instruction set this is compiled for.
namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

// A product's sums stay in registers: group_rows rows of `widest` vectors, of 32 registers with AVX-512, else of 16.
#if defined(__AVX512F__)
inline constexpr int group_rows = 8, widest = 3;
#else
inline constexpr int group_rows = 6, widest = 2;
#endif

using Index = std::int64_t;

constexpr Index round_up(Index n, Index to) { return (n + to - 1) / to * to; }
constexpr Index smaller(Index a, Index b) { return a < b ? a : b; }

/// What a product does to the tile it is for.
enum class Into { empty, add, scale_and_add };

template <class T> struct Product {
  const T* a;  ///< element (row, depth) at a[row * a_row + depth * a_depth]
  Index a_row, a_depth;
  const T* b;  ///< rows of vectors, one for each of `depth`
  Index b_row;
  T* c;
  Index c_row, depth;
  const T* scale = nullptr;  ///< one per row of c
};

template <class T, int vectors, Into into> __attribute__((noinline)) void multiply_columns(const Product<T>& product) {
  constexpr Index width = lane_count<T>;
  Lanes<T> sum[group_rows][vectors];
#pragma GCC unroll 16
  for (int row = 0; row < group_rows; ++row)
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) sum[row][i] = Lanes<T>{};
  const T* a = product.a;
  const T* b = product.b;
  const Index a_row = product.a_row, a_depth = product.a_depth, b_row = product.b_row;
  for (Index depth = product.depth; depth > 0; --depth, a += a_depth, b += b_row) {
    Lanes<T> right[vectors];
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) right[i] = load(b + i * width);
#pragma GCC unroll 16
    for (int row = 0; row < group_rows; ++row)
#pragma GCC unroll 4
      for (int i = 0; i < vectors; ++i) sum[row][i] += a[row * a_row] * right[i];
  }
#pragma GCC unroll 16
  for (int row = 0; row < group_rows; ++row)
#pragma GCC unroll 4
    for (int i = 0; i < vectors; ++i) {
      T* c = product.c + row * product.c_row + i * width;
      if constexpr (into == Into::add) sum[row][i] += load(c);
      if constexpr (into == Into::scale_and_add) sum[row][i] += load(c) * product.scale[row];
      store(c, sum[row][i]);
    }
}

/// c = a b, c + a b or scale · c + a b, for group_rows rows and the columns of `vectors` vectors.
template <Into into, class T> void multiply(Product<T> product, Index vectors) {
  while (vectors > 0) {
    const int step = vectors == 4 ? 2 : static_cast<int>(smaller(vectors, widest));
    if (step == 1)
      multiply_columns<T, 1, into>(product);
    else if (step == 2)
      multiply_columns<T, 2, into>(product);
    else
      multiply_columns<T, widest, into>(product);
    product.b += step * lane_count<T>;
    product.c += step * lane_count<T>;
    vectors -= step;
  }
}

/// Of a square of vectors: lanes and rows change places, in squares of half the size at each step.
template <class T, int distance = static_cast<int>(lane_count<T>) / 2>
MONOMORPH_INLINE void transpose_square(Lanes<T>* rows) {
  constexpr int width = static_cast<int>(lane_count<T>);
#pragma GCC unroll 16
  for (int row = 0; row < width; ++row) {
    if (row & distance) continue;
    const Lanes<T> a = rows[row], b = rows[row + distance];
    rows[row] = shuffled<T, [](int i) { return i & distance ? width + (i ^ distance) : i; }>(a, b);
    rows[row + distance] = shuffled<T, [](int i) { return i & distance ? width + i : i ^ distance; }>(a, b);
  }
  if constexpr (distance > 1) transpose_square<T, distance / 2>(rows);
}

}  // namespace
}  // namespace monomorph::cpu::MONOMORPH_ISA
