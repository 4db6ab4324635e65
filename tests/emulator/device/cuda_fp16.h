#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

// Conversions of CUDA's header of this name, on the emulator, as those of cuda_bf16.h are.

struct __half {
  std::uint16_t bits;
};
inline __half __ushort_as_half(unsigned short bits) { return {bits}; }
inline unsigned short __half_as_ushort(__half x) { return x.bits; }

/// The bits behind the sign, put where those of a float are, are the number over 2^112, subnormal ones included.
inline float __half2float(__half x) {
  const std::uint32_t behind_sign = (x.bits & 0x7FFFu) << 13, sign = (x.bits & 0x8000u) << 16;
  const float finite = std::bit_cast<float>(behind_sign) * 0x1p112f;
  const std::uint32_t not_finite = behind_sign | 0x7F80'0000u;
  const std::uint32_t bits = behind_sign < (31u << 23) ? std::bit_cast<std::uint32_t>(finite) : not_finite;
  return std::bit_cast<float>(bits | sign);
}

/// Nearest, ties to even, by adding a power of two of which the last place is that of the result.
inline __half __float2half_rn(float x) {
  const std::uint32_t all = std::bit_cast<std::uint32_t>(x), behind_sign = all & 0x7FFF'FFFFu;
  // Beyond 2^16 infinity. The power of two has 13 binary places more than the number, or is 1/2 for subnormal ones.
  const std::uint32_t exponent = behind_sign >> 23, least = 127 - 14;
  const std::uint32_t power = ((exponent > least ? exponent : least) + 13) << 23;
  const std::uint32_t sum =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(behind_sign) + std::bit_cast<float>(power));
  // Above the power of two lie 10 places and the leading one, which is carried into the exponent; subnormal ones have
  // none.
  const std::uint32_t mantissa = sum - power, before = (exponent > least ? exponent - least : 0) << 10;
  const std::uint32_t finite = before + mantissa;
  const std::uint32_t not_finite = behind_sign > (255u << 23) ? 0x7E00u : 0x7C00u;
  return {static_cast<std::uint16_t>((behind_sign >= (143u << 23) ? not_finite : finite) | (all >> 31 << 15))};
}
