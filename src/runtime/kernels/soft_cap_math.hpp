#pragma once
#include <cmath>
#include "runtime/kernels/host_device.hpp"

/// Soft caps (spec/soft_cap_spec.hpp) of one number, for kernels of every device. All is local to the translation unit,
/// as elements are.
namespace monomorph {
namespace {

/// tanh of a number of fp32, or of a vector of such: the quotient of polynomials that Eigen and XLA have, so that there
/// is no exponential whose difference from 1 would lose what small numbers have. The relative error is below 5e-7, and
/// no result is beyond 1. NaN for NaN.
template <class V> MONOMORPH_HOST_DEVICE inline V rational_tanh(V x) {
  constexpr float end = 7.99881172180175781f;
  const V highest = V{} + end, lowest = V{} - end;
  const V below = x > highest ? highest : x, bounded = below < lowest ? lowest : below, square = bounded * bounded;
  V odd = square * -2.76076847742355e-16f + 2.00018790482477e-13f;
  odd = odd * square - 8.60467152213735e-11f;
  odd = odd * square + 5.12229709037114e-08f;
  odd = odd * square + 1.48572235717979e-05f;
  odd = odd * square + 6.37261928875436e-04f;
  odd = odd * square + 4.89352455891786e-03f;
  V even = square * 1.19825839466702e-06f + 1.18534705686654e-04f;
  even = even * square + 2.26843463243900e-03f;
  even = even * square + 4.89352518554385e-03f;
  return bounded * odd / even;
}
MONOMORPH_HOST_DEVICE inline float hyperbolic_tangent(float x) { return rational_tanh(x); }
MONOMORPH_HOST_DEVICE inline double hyperbolic_tangent(double x) { return std::tanh(x); }

template <class S> struct SoftCap {
  S cap, inverse;
  explicit SoftCap(double of) : cap(static_cast<S>(of)), inverse(static_cast<S>(1 / of)) {}
  MONOMORPH_HOST_DEVICE S operator()(S x) const { return cap * hyperbolic_tangent(x * inverse); }
};
/// Of what the cap has made.
template <class S> struct SoftCapGradient {
  S inverse;
  explicit SoftCapGradient(double cap) : inverse(static_cast<S>(1 / cap)) {}
  /// @tparam V a number, or a vector of numbers
  template <class V> MONOMORPH_HOST_DEVICE V operator()(V y, V dy) const {
    const V share = y * inverse;
    return (S(1) - share * share) * dy;
  }
};

}  // namespace
}  // namespace monomorph
