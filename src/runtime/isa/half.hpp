#pragma once
#include <cstdint>

// IEEE 754 binary16 as bits, to and from float. Written without branches, so that loops over elements are vectorised on
// processors that have no instruction for it, too. Like everything for several instruction sets, of internal linkage.

namespace {

struct Half {
  std::uint16_t bits;
};

/// Exact.
static inline float widen(Half x) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(x.bits & 0x7FFFu) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
  const bool is_subnormal = magnitude < (1u << 23), is_finite = magnitude < (31u << 23);
  // A subnormal number is the distance from 2^-14 of what it would be with that exponent.
  const float from_least = __builtin_bit_cast(float, magnitude + (113u << 23)) - 0x1p-14f;
  const std::uint32_t normal = magnitude + ((is_finite ? 112u : 224u) << 23);
  const std::uint32_t bits = is_subnormal ? __builtin_bit_cast(std::uint32_t, from_least) : normal;
  return __builtin_bit_cast(float, bits | sign);
}

/// To nearest, ties to even; to infinity from 65,520 on; a NaN stays one.
static inline Half narrow_to_half(float x) {
  const std::uint32_t all = __builtin_bit_cast(std::uint32_t, x), sign = all & 0x8000'0000u, bits = all ^ sign;
  // Adding 1/2 leaves the subnormal number, rounded, in the low bits of the sum.
  const float shifted = __builtin_bit_cast(float, bits) + 0.5f;
  const std::uint32_t subnormal = __builtin_bit_cast(std::uint32_t, shifted) - (126u << 23);
  const std::uint32_t normal = (bits - (112u << 23) + 0xFFFu + ((bits >> 13) & 1u)) >> 13;
  const std::uint32_t beyond = bits > (255u << 23) ? 0x7E00u : 0x7C00u;
  const std::uint32_t magnitude = bits >= (143u << 23) ? beyond : bits < (113u << 23) ? subnormal : normal;
  return {static_cast<std::uint16_t>(magnitude | (sign >> 16))};
}

}  // namespace
