#pragma once
#include <bit>
#include <cstdint>

#include "runtime/kernels/elements.hpp"

#ifdef __CUDACC__
#include <cuda_fp8.h>
#endif

/// Elements of 8 bits, and how numbers are rounded to them, on hosts and on GPUs in the same bits.
namespace monomorph {
namespace {

/// Four bits of exponent and three of mantissa: to 448, without infinities.
struct E4M3 {
  std::uint8_t bits;
};
/// Five and two: to 57,344.
struct E5M2 {
  std::uint8_t bits;
};

// To nearest, ties to even. A finite number beyond the greatest becomes the greatest; an infinity, which no scale would
// bring back, becomes a NaN, so that a step with one is noticed and skipped.

/// @tparam exponent of the least normal number   @tparam mantissa its bits
template <int exponent, int mantissa, std::uint32_t greatest> struct EightBits {
  static constexpr std::uint32_t nan = 0x7F;
  MONOMORPH_HOST_DEVICE static std::uint8_t rounded(float x) {
    constexpr int dropped = 23 - mantissa;
    constexpr auto least_normal = static_cast<std::uint32_t>(127 + exponent) << 23;
    // Its last bit is that of the subnormal numbers, so that adding it rounds to one.
    constexpr auto to_subnormal = static_cast<std::uint32_t>(127 + exponent - mantissa + 23) << 23;
    const auto all = std::bit_cast<std::uint32_t>(x), sign = all & 0x8000'0000u, bits = all ^ sign;
    const float shifted = std::bit_cast<float>(bits) + std::bit_cast<float>(to_subnormal);
    const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - to_subnormal;
    const std::uint32_t to_even = (1u << (dropped - 1)) - 1u + ((bits >> dropped) & 1u);
    const std::uint32_t normal = (bits - least_normal + (1u << 23) + to_even) >> dropped;
    const std::uint32_t finite = bits < least_normal ? subnormal : normal < greatest ? normal : greatest;
    return static_cast<std::uint8_t>((bits < (255u << 23) ? finite : nan) | (sign >> 24));
  }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890  // older GPUs have no instruction for it
/// The GPU's own rounding, which makes of an infinity the greatest number.
__device__ inline std::uint8_t rounded_by_gpu(float x, __nv_fp8_interpretation_t kind) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint8_t finite = __nv_cvt_float_to_fp8(x, __NV_SATFINITE, kind);
  return (bits & 0x7FFF'FFFFu) < (255u << 23) ? finite : static_cast<std::uint8_t>(0x7Fu | (bits >> 24 & 0x80u));
}
MONOMORPH_HOST_DEVICE inline E4M3 narrow_to_e4m3(float x) { return {rounded_by_gpu(x, __NV_E4M3)}; }
MONOMORPH_HOST_DEVICE inline E5M2 narrow_to_e5m2(float x) { return {rounded_by_gpu(x, __NV_E5M2)}; }
#else
MONOMORPH_HOST_DEVICE inline E4M3 narrow_to_e4m3(float x) { return {EightBits<-6, 3, 0x7E>::rounded(x)}; }
MONOMORPH_HOST_DEVICE inline E5M2 narrow_to_e5m2(float x) { return {EightBits<-14, 2, 0x7B>::rounded(x)}; }
#endif
MONOMORPH_HOST_DEVICE inline void narrow(float x, E4M3& to) { to = narrow_to_e4m3(x); }
MONOMORPH_HOST_DEVICE inline void narrow(float x, E5M2& to) { to = narrow_to_e5m2(x); }

/// Exact. e5m2 is the upper half of fp16.
MONOMORPH_HOST_DEVICE inline float widen(E5M2 x) { return widen(Half{static_cast<std::uint16_t>(x.bits << 8)}); }
/// As fp16 with the same bits behind the sign it is a 256th.
MONOMORPH_HOST_DEVICE inline float widen(E4M3 x) {
  const unsigned magnitude = x.bits & 0x7Fu, sign = (x.bits & 0x80u) << 8;
  if (magnitude == 0x7Fu) return std::bit_cast<float>(0x7FC0'0000u | (sign << 16));
  return 256 * widen(Half{static_cast<std::uint16_t>(magnitude << 7 | sign)});
}

/// The greatest finite number of a format is 1.75 · 2^e.
template <class F> inline constexpr int greatest_exponent = 8;
template <> inline constexpr int greatest_exponent<E5M2> = 15;

/// The power of two by which numbers up to `amax` are multiplied before they are rounded: the greatest with which that
/// one is not beyond the format's greatest, over 2^margin. Of zero, which is what nothing is known of, 1. Multiplying
/// by it is exact, and so is taking it back (docs/why/fp8.md).
template <class F> MONOMORPH_HOST_DEVICE float scale_of(float amax, int margin) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(amax) & 0x7FFF'FFFFu;
  if (bits == 0) return 1;
  constexpr int most = 100;  // of both signs: what is scaled back stays within the exponents of bf16
  constexpr std::uint32_t mantissa = (1u << 23) - 1, three_quarters = 3u << 21;
  const int over = (bits & mantissa) > three_quarters ? 1 : 0;
  const int exponent = greatest_exponent<F> - (static_cast<int>(bits >> 23) - 127) - over - margin;
  const int bounded = exponent > most ? most : exponent < -most ? -most : exponent;
  return std::bit_cast<float>(static_cast<std::uint32_t>(bounded + 127) << 23);
}

/// The magnitude of a bf16 number as an integer that is as great as others' as it is: what maxima are taken of. Those
/// of infinities and NaNs count, too, in a step that is not applied.
MONOMORPH_HOST_DEVICE inline std::uint32_t magnitude_of(BFloat16 x) { return x.bits & 0x7FFFu; }
MONOMORPH_HOST_DEVICE inline float of_magnitude(std::int64_t magnitude) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(magnitude) << 16);
}

}  // namespace
}  // namespace monomorph
