#pragma once
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <monomorph/core/philox.hpp>
#include <utility>
#include "runtime/kernels/elements.hpp"
#include "runtime/kernels/exponential.hpp"

/// The arithmetic that kernels on CPUs share, each piece once: lanes, exponentials, random words;
/// docs/why/vector_math.md has the reasons. All is local to the translation unit: no symbol of one instruction set may
/// stand in for another's.
namespace monomorph::cpu {
namespace {

#define MONOMORPH_INLINE inline __attribute__((always_inline))

// ---- Lanes ----------------------------------------------------------------------------------------------------------

/// Of a vector register of the instruction set that this is compiled for.
#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

template <class T, int bytes> struct VectorOf {
  typedef T Type __attribute__((vector_size(bytes)));
  typedef T Unaligned __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));
};
/// A vector of as many T as `bytes` hold.
template <class T, int bytes = register_bytes> using Lanes = typename VectorOf<T, bytes>::Type;
template <class T, int bytes = register_bytes>
inline constexpr std::int64_t lane_count = bytes / static_cast<std::int64_t>(sizeof(T));

/// From an address that need not be aligned.
template <class T> MONOMORPH_INLINE Lanes<T> load(const T* from) {
  return *reinterpret_cast<const typename VectorOf<T, register_bytes>::Unaligned*>(from);
}
/// The same, as what is stored is computed with.
template <class S> MONOMORPH_INLINE Lanes<Compute<S>> load_widened(const S* from) {
  if constexpr (computed_as_stored<S>) {
    return load(from);
  } else if constexpr (std::same_as<S, BFloat16>) {
    using Words = typename VectorOf<std::uint16_t, register_bytes / 2>::Unaligned;
    const auto words = __builtin_convertvector(*reinterpret_cast<const Words*>(from), Lanes<std::uint32_t>);
    return reinterpret_cast<Lanes<float>>(words << 16);
  } else {
    Lanes<float> x{};
    for (std::int64_t i = 0; i < lane_count<float>; ++i) x[i] = widen(from[i]);
    return x;
  }
}
template <class T> MONOMORPH_INLINE void store(T* to, Lanes<T> x) {
  *reinterpret_cast<typename VectorOf<T, register_bytes>::Unaligned*>(to) = x;
}
template <class T> MONOMORPH_INLINE Lanes<T> broadcast(T x) { return x - Lanes<T>{}; }

/// A vector whose lane i is lane shuffle(i) of a and b, b's lanes counted after a's.
template <auto shuffle, class V, int... i> MONOMORPH_INLINE V shuffled(V a, V b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, shuffle(i)...);
}
template <class T, auto shuffle> MONOMORPH_INLINE Lanes<T> shuffled(Lanes<T> a, Lanes<T> b) {
  return shuffled<shuffle>(a, b, std::make_integer_sequence<int, static_cast<int>(lane_count<T>)>{});
}

/// The sum of the lanes, halves onto each other.
template <class T, int distance = static_cast<int>(lane_count<T>) / 2> MONOMORPH_INLINE T sum_of(Lanes<T> x) {
  if constexpr (distance == 0)
    return x[0];
  else
    return sum_of<T, distance / 2>(x + shuffled<T, [](int i) { return i ^ distance; }>(x, x));
}

/// Lane i has the sum of a's lanes i and i ^ distance where the bit `distance` of i is 0, and of b's where it is 1.
template <class T, int distance> MONOMORPH_INLINE Lanes<T> fold(Lanes<T> a, Lanes<T> b) {
  constexpr int lanes = static_cast<int>(lane_count<T>);
  const auto own = shuffled<T, [](int i) { return i & distance ? i + lanes : i; }>(a, b);
  const auto other = shuffled<T, [](int i) { return (i ^ distance) + (i & distance ? lanes : 0); }>(a, b);
  return own + other;
}

/// Of up to four vectors, the sums of their lanes, each with the bits of sum_of and together in a third of its time.
template <class T, int n> MONOMORPH_INLINE void sum_lanes(const Lanes<T> (&x)[n], T (&sums)[n]) {
  constexpr int lanes = static_cast<int>(lane_count<T>), half = lanes / 2, quarter = lanes / 4;
  if constexpr (n == 1 || quarter == 0) {
    for (int i = 0; i < n; ++i) sums[i] = sum_of<T>(x[i]);
  } else {
    Lanes<T> four[4] = {};
    for (int i = 0; i < n; ++i) four[i] = x[i];
    Lanes<T> all = fold<T, quarter>(fold<T, half>(four[0], four[1]), fold<T, half>(four[2], four[3]));
    if constexpr (quarter > 2) all = fold<T, 2>(all, all);
    if constexpr (quarter > 1) all = fold<T, 1>(all, all);
    for (int i = 0; i < n; ++i) sums[i] = all[(i & 1) * half + (i >> 1) * quarter];
  }
}

/// The sum of a[i] b[i]: lanes first where b is stored as it is computed with.
template <class S, class T> T dot(const T* a, const S* b, std::int64_t n) {
  std::int64_t i = 0;
  T sum = 0;
  if constexpr (computed_as_stored<S>) {
    Lanes<T> sums{};
    for (; i + lane_count<T> <= n; i += lane_count<T>) sums += load(a + i) * load(b + i);
    sum = sum_of<T>(sums);
  }
  for (; i < n; ++i) sum += a[i] * widen(b[i]);
  return sum;
}

// ---- Exponentials ---------------------------------------------------------------------------------------------------

// There are two: that of runtime/kernels/exponential.hpp and this one, as what they reduce to is not the same. e^x
// loses nothing where |x| is large, and its results go down to the least subnormal number, which a loss must see; in
// the softmax of attention the scores are scaled by log2(e) already, and what is below the normal numbers adds nothing
// to a sum whose greatest term is 1.

/// 2^x of a vector, with a relative error below 1.2e-7. 0 below the normal numbers, infinity above 127.5; NaN for NaN.
MONOMORPH_INLINE Lanes<float> power_of_two(Lanes<float> x) {
  using Integers = Lanes<std::int32_t>;
  constexpr float lowest = -126.0f, highest = 127.5f;
  const Lanes<float> above = x < lowest ? broadcast(lowest) : x;  // NaN stays
  const Lanes<float> bounded = above > highest ? broadcast(highest) : above;
  const Lanes<float> shifted = bounded + round_to_whole;
  const Lanes<float> f = bounded - (shifted - round_to_whole);
  Lanes<float> p = f * 1.5461444696478693e-4f + 1.3400428177411338e-3f;  // Chebyshev interpolation on [-1/2, 1/2]
  p = p * f + 9.618056678525952e-3f;
  p = p * f + 5.5503272266709675e-2f;
  p = p * f + 2.4022650922288827e-1f;
  p = p * f + 6.931472067028321e-1f;
  p = p * f + 1.0f;
  const auto result =
      reinterpret_cast<Lanes<float>>(reinterpret_cast<Integers>(p) + (reinterpret_cast<Integers>(shifted) << 23));
  const Lanes<float> infinite = x > highest ? broadcast(__builtin_inff()) : result;
  return x < lowest ? Lanes<float>{} : infinite;
}
MONOMORPH_INLINE Lanes<double> power_of_two(Lanes<double> x) {
  for (std::int64_t i = 0; i < lane_count<double>; ++i) x[i] = __builtin_exp2(x[i]);
  return x;
}

// ---- Random words ---------------------------------------------------------------------------------------------------

inline constexpr std::int64_t random_group = 64;  ///< words that are drawn together

/// 64 random words: lane l of the sixteen Philox counters (16 · group + l, c1, c2, c3) gives words l, 16 + l, 32 + l
/// and 48 + l, so that the sixteen are one vector.
MONOMORPH_INLINE void random_words(const std::array<std::uint32_t, 2>& key, std::uint32_t group, std::uint32_t counter1,
                                   std::uint64_t counter23, std::uint32_t* words) {
  const std::uint32_t key0 = key[0], key1 = key[1];
  const auto counter2 = static_cast<std::uint32_t>(counter23), counter3 = static_cast<std::uint32_t>(counter23 >> 32);
  for (std::uint32_t lane = 0; lane < 16; ++lane) {
    std::uint32_t c0 = group * 16 + lane, c1 = counter1, c2 = counter2, c3 = counter3;
    // Written out: with a loop over the rounds, stochastic rounding takes 1 to 2 % longer.
    [&]<std::uint32_t... number>(std::integer_sequence<std::uint32_t, number...>) {
      (random::philox_round(c0, c1, c2, c3, key0, key1, number), ...);
    }
    (std::make_integer_sequence<std::uint32_t, random::philox_rounds>{});
    words[lane] = c0;
    words[16 + lane] = c1;
    words[32 + lane] = c2;
    words[48 + lane] = c3;
  }
}

}  // namespace
}  // namespace monomorph::cpu
