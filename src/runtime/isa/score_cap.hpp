#pragma once
#include "attention.hpp"
#include "attention_tile.hpp"
#include "runtime/kernels/soft_cap_math.hpp"

/// Soft caps of attention's scores: a step of its own between the product that makes them and the softmax, which no
/// call without a cap takes.
namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

MONOMORPH_INLINE Lanes<float> hyperbolic_tangent(Lanes<float> x) { return rational_tanh(x); }
MONOMORPH_INLINE Lanes<double> hyperbolic_tangent(Lanes<double> x) {
  for (Index i = 0; i < lane_count<double>; ++i) x[i] = std::tanh(x[i]);
  return x;
}

/// Products of queries and keys become cap · tanh(scale · product / cap), in units of 1 / `unit`.
template <class T> struct ScoreCap {
  bool given;
  double scale;  ///< of the products where it is not given, and of what it makes of them where it is
  T cap, factor;
  explicit ScoreCap(const AttentionShape& shape, double unit = 1)
      : given(shape.cap > 0),
        scale(given ? 1 : shape.scale),
        cap(static_cast<T>(shape.cap * unit)),
        factor(given ? static_cast<T>(shape.scale / shape.cap) : 0) {}

  /// Of n products, n being a multiple of a vector's lanes.
  __attribute__((noinline)) void apply(T* scores, Index n) const {
    for (Index i = 0; i < n; i += lane_count<T>) store(scores + i, cap * hyperbolic_tangent(load(scores + i) * factor));
  }
};

}  // namespace
}  // namespace monomorph::cpu::MONOMORPH_ISA
