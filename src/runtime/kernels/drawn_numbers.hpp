#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include "runtime/kernels/host_device.hpp"

/// Numbers in fp64 from random words, for every device. Devices have the same products, sums and roots, and differ in
/// the last bits of log, exp, erfc, sin and cos.
namespace monomorph::random {
namespace {

/// A uniform number in [0, 1) of 53 bits, from two words.
MONOMORPH_HOST_DEVICE inline double unit_of_53_bits(std::uint32_t word, std::uint32_t next) {
  return static_cast<double>((static_cast<std::uint64_t>(word) << 32 | next) >> 11) * 0x1p-53;
}
/// In ± half_width. Rounded once, by the last product.
MONOMORPH_HOST_DEVICE inline double symmetric(double unit, double half_width) { return half_width * (2 * unit - 1); }

/// 32 random bits as a number in (0, 1), never 0 or 1.
MONOMORPH_HOST_DEVICE inline double open_unit(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

// Of a whole turn. A GPU's functions of an angle in radians keep a stack for large ones; those of half turns do not,
// and take an angle that nothing has rounded. (The emulator gives both of these.)
#ifdef __CUDA_ARCH__
MONOMORPH_HOST_DEVICE inline double cosine_of_turn(double turn) { return cospi(2 * turn); }
MONOMORPH_HOST_DEVICE inline double sine_of_turn(double turn) { return sinpi(2 * turn); }
#else
MONOMORPH_HOST_DEVICE inline double cosine_of_turn(double turn) { return std::cos(2 * std::numbers::pi * turn); }
MONOMORPH_HOST_DEVICE inline double sine_of_turn(double turn) { return std::sin(2 * std::numbers::pi * turn); }
#endif

struct NormalPair {
  double first, second;
};
/// Box-Muller.
MONOMORPH_HOST_DEVICE inline NormalPair normal_pair(std::uint32_t word, std::uint32_t next) {
  const double radius = std::sqrt(-2 * std::log(open_unit(word))), turn = open_unit(next);
  return {radius * cosine_of_turn(turn), radius * sine_of_turn(turn)};
}

MONOMORPH_HOST_DEVICE inline double normal_below(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }

/// The number below which a standard normal number lies with probability p < 1/2: the approximation 26.2.23 of
/// Abramowitz and Stegun, then two steps of Halley's method.
MONOMORPH_HOST_DEVICE inline double lower_normal_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(p));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  MONOMORPH_KEEP_LOOP
  for (int step = 0; step < 2; ++step) {
    const double newton = (normal_below(x) - p) * std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * x * x);
    x -= newton / (1 + 0.5 * x * newton);
  }
  return x;
}
MONOMORPH_HOST_DEVICE inline double normal_quantile(double p) {
  const double quantile = lower_normal_quantile(p < 0.5 ? p : 1 - p);
  return p < 0.5 ? quantile : -quantile;
}

/// Of the distribution truncated at ± cutoff.   @param least normal_below(-cutoff)
MONOMORPH_HOST_DEVICE inline double truncated_normal(std::uint32_t word, double cutoff, double least) {
  return std::clamp(normal_quantile(least + open_unit(word) * (1 - 2 * least)), -cutoff, cutoff);
}

}  // namespace
}  // namespace monomorph::random
