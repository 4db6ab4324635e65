#pragma once
#include <bit>
#include <cstdint>

// Conversions of CUDA's header of this name, on the emulator, by arithmetic of its own: that of the CPU's kernels is
// what they are compared with. A GPU makes every NaN the same, and these keep its sign and its upper bits.

struct __nv_bfloat16 {
  std::uint16_t bits;
};

/// Nearest, ties to even. Half of the last place that stays, and one less where that place is even, is added to what is
/// dropped.
inline __nv_bfloat16 __float2bfloat16_rn(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool is_nan = x != x;
  const std::uint32_t even = ~(bits >> 16) & 1u, rounded = bits + 0x8000u - even;
  return {static_cast<std::uint16_t>((is_nan ? bits | 0x40'0000u : rounded) >> 16)};
}
inline unsigned short __bfloat16_as_ushort(__nv_bfloat16 x) { return x.bits; }
