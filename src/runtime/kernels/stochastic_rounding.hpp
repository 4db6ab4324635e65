#pragma once
#include "runtime/kernels/elements.hpp"

namespace monomorph {
namespace {

/// To bf16, away from zero with the probability of the part that is cut off. What is not finite stays what it is.
[[gnu::always_inline]] MONOMORPH_HOST_DEVICE inline BFloat16 round_stochastically(float x, std::uint32_t sixteen_bits) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const bool finite = (bits & 0x7F80'0000u) != 0x7F80'0000u;
  return finite ? BFloat16{static_cast<std::uint16_t>((bits + sixteen_bits) >> 16)} : narrow_to_bf16(x);
}

}  // namespace
}  // namespace monomorph
