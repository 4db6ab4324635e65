#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

// Conversions of CUDA's header of this name, on the emulator, as those of cuda_bf16.h are. Kernels have them from
// architecture 89 on.

using __nv_fp8_storage_t = unsigned char;
enum __nv_saturation_t { __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 };

/// Nearest, ties to even; beyond the greatest number that one. The number is rounded as a float, by adding a power of
/// two of which the last place is that of the result, and then taken apart.
inline __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t, __nv_fp8_interpretation_t kind) {
  const int mantissa = kind == __NV_E4M3 ? 3 : 2, bias = kind == __NV_E4M3 ? 7 : 15;
  const float greatest = kind == __NV_E4M3 ? 448.0f : 57'344.0f, size = std::fabs(x);
  if (x != x) return 0x7F;
  const float bounded = size < greatest ? size : greatest;
  const int of_number = static_cast<int>(std::bit_cast<std::uint32_t>(bounded) >> 23) - 127;
  const int exponent = of_number > 1 - bias ? of_number : 1 - bias;
  const auto power = std::bit_cast<float>(static_cast<std::uint32_t>(exponent - mantissa + 23 + 127) << 23);
  const float rounded = (bounded + power) - power, last_place = power * 0x1p-23f;
  // Of a normal number the leading one is carried into the exponent, which is counted from that of subnormal ones.
  const int places = static_cast<int>(rounded / last_place), bits = ((exponent - (1 - bias)) << mantissa) + places;
  return static_cast<__nv_fp8_storage_t>(bits | (std::signbit(x) ? 0x80 : 0));
}
