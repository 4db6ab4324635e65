#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include "runtime/kernels/host_device.hpp"

/// The exponential function and what is made of it, for kernels of every device. Polynomials of our own, as the C
/// library's functions are not inlined into a loop over vectors (docs/why/vector_math.md). All is local to the
/// translation unit, as elements are.
namespace monomorph {
namespace {

constexpr float round_to_whole = 12'582'912.0f;  // adding 1.5 · 2^23 rounds to a whole number, in the lowest bits

/// e^x of one number, for loops that the compiler vectorises, with a relative error below 1.2e-7. 0 and infinity where
/// float ends; NaN for NaN.
MONOMORPH_HOST_DEVICE inline float exponential(float x) {
  // Comparisons that let NaN through: it then turns the whole result into NaN.
  const float bounded = x > 89.0f ? 89.0f : x, clamped = bounded < -104.0f ? -104.0f : bounded;
  // x = n ln 2 + r with |r| <= ln(2) / 2. ln 2 is in two parts, the first with so few bits that n times it is exact.
  const float shifted = clamped * 1.44269504f + round_to_whole, whole = shifted - round_to_whole;
  const auto n = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(round_to_whole);
  const float r = (clamped - whole * 0.693359375f) + whole * 2.12194440e-4f;
  float p = 0.00139269266f;
  p = p * r + 0.00836377387f;
  p = p * r + 0.0416665501f;
  p = p * r + 0.166665734f;
  p = p * r + 0.5f;
  p = p * (r * r) + r + 1.0f;
  // 2^n in two factors, so that results below the smallest normal number come out, too.
  const std::int32_t half = n >> 1, rest = n - half;
  return p * std::bit_cast<float>((half + 127) << 23) * std::bit_cast<float>((rest + 127) << 23);
}
MONOMORPH_HOST_DEVICE inline double exponential(double x) { return std::exp(x); }

/// 1 / (1 + e^-x).
template <class S> MONOMORPH_HOST_DEVICE inline S sigmoid(S x) { return S(1) / (S(1) + exponential(-x)); }

/// The standard normal distribution function at x and its density there; for float with a relative error of about 1e-7.
template <class S> struct NormalPoint { S below, density; };
MONOMORPH_HOST_DEVICE inline NormalPoint<float> standard_normal(float x) {
  constexpr float inverse_sqrt_2_pi = 0.398942280f;
  const float distance = std::fabs(x), bell = exponential(-0.5f * x * x);
  // The tail beyond |x| is bell · t · polynomial(t).
  const float t = 1.0f / (1.0f + 0.3f * distance);
  float p = -0.0209143597f;
  p = p * t + 0.114040272f;
  p = p * t - 0.232038483f;
  p = p * t + 0.196940677f;
  p = p * t - 0.0837425493f;
  p = p * t + 0.0984807403f;
  p = p * t + 0.0775890643f;
  p = p * t + 0.11040518f;
  p = p * t + 0.119551763f;
  p = p * t + 0.119687693f;
  const float tail = bell * t * p;
  return {x < 0 ? tail : 1.0f - tail, bell * inverse_sqrt_2_pi};
}
MONOMORPH_HOST_DEVICE inline NormalPoint<double> standard_normal(double x) {
  constexpr double inverse_sqrt_2 = 0.70710678118654752440, inverse_sqrt_2_pi = 0.39894228040143267794;
  return {0.5 * std::erfc(-x * inverse_sqrt_2), std::exp(-0.5 * x * x) * inverse_sqrt_2_pi};
}

}  // namespace
}  // namespace monomorph
