#pragma once
#include <cstdint>
#include <monomorph/core/dtype.hpp>
#include <utility>

/// Products of small tiles, in vectors of the instruction set this is compiled for. All is local to the translation
/// unit: no symbol of one instruction set may stand in for another's.
namespace {

// A product's sums stay in registers: group_rows rows of `widest` vectors, of 32 registers with AVX-512, else of 16.
#if defined(__AVX512F__)
inline constexpr int vector_bytes = 64, group_rows = 8, widest = 3;
#elif defined(__AVX__)
inline constexpr int vector_bytes = 32, group_rows = 6, widest = 2;
#else
inline constexpr int vector_bytes = 16, group_rows = 6, widest = 2;
#endif

using Index = std::int64_t;

template <class T> struct LanesOf;
template <> struct LanesOf<float> {
  typedef float Vector __attribute__((vector_size(vector_bytes)));
  typedef float Unaligned __attribute__((vector_size(vector_bytes), aligned(4), may_alias));
  typedef std::int32_t Integer __attribute__((vector_size(vector_bytes)));
};
template <> struct LanesOf<double> {
  typedef double Vector __attribute__((vector_size(vector_bytes)));
  typedef double Unaligned __attribute__((vector_size(vector_bytes), aligned(8), may_alias));
  typedef std::int64_t Integer __attribute__((vector_size(vector_bytes)));
};
template <class T> using Lanes = typename LanesOf<T>::Vector;
template <class T> inline constexpr Index lanes = vector_bytes / static_cast<Index>(sizeof(T));

#define MONOMORPH_INLINE inline __attribute__((always_inline))

template <class T> MONOMORPH_INLINE Lanes<T> load(const T* from) {
  return *reinterpret_cast<const typename LanesOf<T>::Unaligned*>(from);
}
template <class T> MONOMORPH_INLINE void store(T* to, Lanes<T> x) {
  *reinterpret_cast<typename LanesOf<T>::Unaligned*>(to) = x;
}
template <class T> MONOMORPH_INLINE Lanes<T> all(T x) { return x - Lanes<T>{}; }
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
  constexpr Index width = lanes<T>;
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
    product.b += step * lanes<T>;
    product.c += step * lanes<T>;
    vectors -= step;
  }
}

/// 2^x to fp32 accuracy; 0 below the normal numbers, infinity above them.
MONOMORPH_INLINE Lanes<float> power_of_two(Lanes<float> x) {
  using Integer = LanesOf<float>::Integer;
  constexpr float lowest = -126.0f, highest = 127.5f, round = 12582912.0f;  // adding 1.5 · 2^23 rounds to an integer
  const Lanes<float> above = x < lowest ? all(lowest) : x;                  // NaN stays
  const Lanes<float> bounded = above > highest ? all(highest) : above;
  const Lanes<float> shifted = bounded + round;
  const Lanes<float> f = bounded - (shifted - round);
  Lanes<float> p = f * 1.5461444696478693e-4f + 1.3400428177411338e-3f;  // Chebyshev interpolation on [-1/2, 1/2]
  p = p * f + 9.618056678525952e-3f;
  p = p * f + 5.5503272266709675e-2f;
  p = p * f + 2.4022650922288827e-1f;
  p = p * f + 6.931472067028321e-1f;
  p = p * f + 1.0f;
  const auto result =
      reinterpret_cast<Lanes<float>>(reinterpret_cast<Integer>(p) + (reinterpret_cast<Integer>(shifted) << 23));
  const Lanes<float> infinite = x > highest ? all(__builtin_inff()) : result;
  return x < lowest ? Lanes<float>{} : infinite;
}
MONOMORPH_INLINE Lanes<double> power_of_two(Lanes<double> x) {
  for (Index i = 0; i < lanes<double>; ++i) x[i] = __builtin_exp2(x[i]);
  return x;
}

/// A vector whose lane i is lane shuffle(i) of a and b, b's lanes counted after a's.
template <auto shuffle, class V, int... i> MONOMORPH_INLINE V shuffled(V a, V b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, shuffle(i)...);
}
template <class T, auto shuffle> MONOMORPH_INLINE Lanes<T> shuffled(Lanes<T> a, Lanes<T> b) {
  return shuffled<shuffle>(a, b, std::make_integer_sequence<int, static_cast<int>(lanes<T>)>{});
}

template <class T, int distance = static_cast<int>(lanes<T>) / 2> MONOMORPH_INLINE T sum_of(Lanes<T> x) {
  if constexpr (distance == 0)
    return x[0];
  else
    return sum_of<T, distance / 2>(x + shuffled<T, [](int i) { return i ^ distance; }>(x, x));
}

/// Of a square of vectors: lanes and rows change places, in squares of half the size at each step.
template <class T, int distance = static_cast<int>(lanes<T>) / 2>
MONOMORPH_INLINE void transpose_square(Lanes<T>* rows) {
  constexpr int width = static_cast<int>(lanes<T>);
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
