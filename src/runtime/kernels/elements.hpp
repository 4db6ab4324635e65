#pragma once
#include <bit>
#include <cstdint>
#include "runtime/kernels/host_device.hpp"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

/// Elements as buffers store them, and what computes with them, for kernels of every device. All is local to the
/// translation unit: no symbol of one instruction set may stand in for another's.
namespace monomorph {
namespace {

struct BFloat16 {
  std::uint16_t bits;
};
/// IEEE 754 binary16.
struct Half {
  std::uint16_t bits;
};

template <class S> struct ComputeOf { using Type = S; };
template <> struct ComputeOf<BFloat16> { using Type = float; };
template <> struct ComputeOf<Half> { using Type = float; };
/// The type that computes with elements which are stored as S.
template <class S> using Compute = typename ComputeOf<S>::Type;
template <class S> inline constexpr bool computed_as_stored = sizeof(S) == sizeof(Compute<S>);

// Conversions are exact from the narrower type; to it, they round to nearest, ties to even, and a NaN stays one. They
// have no branches, so that loops over elements are vectorised on processors that have no instruction for it, too. A
// GPU has one for each, which rounds alike, but makes every NaN the same. The emulator gives these by CUDA's names.

[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline float widen(float x) { return x; }
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline double widen(double x) { return x; }
MONOMORPH_HOST_DEVICE inline float widen(BFloat16 x) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(x.bits) << 16);
}
#ifdef __CUDA_ARCH__
MONOMORPH_HOST_DEVICE inline float widen(Half x) { return __half2float(__ushort_as_half(x.bits)); }
MONOMORPH_HOST_DEVICE inline BFloat16 narrow_to_bf16(float x) { return {__bfloat16_as_ushort(__float2bfloat16_rn(x))}; }
/// To infinity from 65,520 on.
MONOMORPH_HOST_DEVICE inline Half narrow_to_half(float x) { return {__half_as_ushort(__float2half_rn(x))}; }
#else
MONOMORPH_HOST_DEVICE inline float widen(Half x) {
  const std::uint32_t magnitude = static_cast<std::uint32_t>(x.bits & 0x7FFFu) << 13;
  const std::uint32_t sign = static_cast<std::uint32_t>(x.bits & 0x8000u) << 16;
  const bool is_subnormal = magnitude < (1u << 23), is_finite = magnitude < (31u << 23);
  // A subnormal number is the distance from 2^-14 of what it would be with that exponent.
  const float from_least = std::bit_cast<float>(magnitude + (113u << 23)) - 0x1p-14f;
  const std::uint32_t normal = magnitude + ((is_finite ? 112u : 224u) << 23);
  const std::uint32_t bits = is_subnormal ? std::bit_cast<std::uint32_t>(from_least) : normal;
  return std::bit_cast<float>(bits | sign);
}
MONOMORPH_HOST_DEVICE inline BFloat16 narrow_to_bf16(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16, quiet_nan = (bits >> 16) | 0x40u;
  return {static_cast<std::uint16_t>((bits & 0x7FFF'FFFFu) > 0x7F80'0000u ? quiet_nan : rounded)};
}
MONOMORPH_HOST_DEVICE inline Half narrow_to_half(float x) {
  const auto all = std::bit_cast<std::uint32_t>(x), sign = all & 0x8000'0000u, bits = all ^ sign;
  // Adding 1/2 leaves the subnormal number, rounded, in the low bits of the sum.
  const float shifted = std::bit_cast<float>(bits) + 0.5f;
  const std::uint32_t subnormal = std::bit_cast<std::uint32_t>(shifted) - (126u << 23);
  const std::uint32_t normal = (bits - (112u << 23) + 0xFFFu + ((bits >> 13) & 1u)) >> 13;
  const std::uint32_t beyond = bits > (255u << 23) ? 0x7E00u : 0x7C00u;
  const std::uint32_t magnitude = bits >= (143u << 23) ? beyond : bits < (113u << 23) ? subnormal : normal;
  return {static_cast<std::uint16_t>(magnitude | (sign >> 16))};
}
#endif

[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline void narrow(float x, float& to) { to = x; }
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline void narrow(double x, double& to) { to = x; }
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline void narrow(float x, BFloat16& to) { to = narrow_to_bf16(x); }
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline void narrow(float x, Half& to) { to = narrow_to_half(x); }

}  // namespace
}  // namespace monomorph
