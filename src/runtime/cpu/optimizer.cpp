#include <algorithm>
#include <cmath>
#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include "runtime/isa/update_scalars.hpp"
#include "runtime/machine/isa.hpp"

namespace monomorph::cpu {
namespace {
UpdateScalars decided(const UpdateTerms& terms) {
  return {terms.decision->gradient_scale, terms.clip_value, terms.decision->update};
}
}  // namespace

/// Defines an update of a queue as a call of the compilation that fits the processor.
#define MONOMORPH_UPDATE(function, Coefficients)                                                               \
  MONOMORPH_PER_ISA(                                                                                           \
      void function(const ElementUpdate& run, const Coefficients& coefficients, const UpdateScalars& scalars)) \
  void function(Queue, const ElementUpdate& run, const Coefficients& coefficients, const UpdateTerms& terms) { \
    if (terms.decision->applies) MONOMORPH_SELECT(function)(run, coefficients, decided(terms));                \
  }
MONOMORPH_UPDATE(adamw, AdamWCoefficients)
MONOMORPH_UPDATE(sgd, SgdCoefficients)
MONOMORPH_UPDATE(lion, LionCoefficients)
MONOMORPH_UPDATE(momentum_mean, MomentumCoefficients)
MONOMORPH_UPDATE(step_along, DirectionCoefficients)
#undef MONOMORPH_UPDATE

MONOMORPH_PER_ISA(void update_chunks(const ElementUpdate& run, const UpdateScalars& scalars,
                                     const detail::ChunkFunction& function))
void detail::update_chunks(const ElementUpdate& run, const UpdateTerms& terms, const ChunkFunction& function) {
  if (terms.decision->applies) MONOMORPH_SELECT(update_chunks)(run, decided(terms), function);
}

void add_to_norm(Queue queue, View x, GradientNorm order, PartialGradientNorm* norm) {
  switch (order) {
    case GradientNorm::one:
      return norm->sum.add(sum_of_magnitudes(queue, x));
    case GradientNorm::two:
      return norm->sum.add(sum_of_squares(queue, x));
    case GradientNorm::infinity:
      norm->greatest = larger_or_nan(norm->greatest, greatest_magnitude(queue, x));
  }
}

namespace {

/// The quintic of Jordan et al. 2024, whose slope at 0 is as steep as it can be for values that end up near 1: applied
/// to X, it is a X + (b A + c A A) X with A = X Xᵀ.
struct Quintic {
  double a = 3.4445, b = -4.7750, c = 2.0315;
};
constexpr double least_norm = 1e-7;

/// The scratch memory of an orthogonalisation, cut into matrices.
struct Scratch {
  View x, next, gram, square;
  Scratch(const View& workspace, Shape shape) {
    const std::int64_t shorter = std::min(shape.rows, shape.cols);
    Layout layout;
    x = workspace[layout.take(shape)];
    next = workspace[layout.take(shape)];
    gram = workspace[layout.take({shorter, shorter})];
    square = workspace[layout.take({shorter, shorter})];
  }
};

/// gram = X Xᵀ, or Xᵀ X if that is smaller; next = the quintic of X.
void iterate(Scratch& s) {
  constexpr Quintic quintic;
  const bool wide = s.x.shape.rows <= s.x.shape.cols;
  if (wide)
    linear(Queue{}, s.x, s.x, View{}, s.gram);
  else
    linear_backward_weight(Queue{}, s.x, s.x, s.gram, View{}, false);
  linear(Queue{}, s.gram, s.gram, View{}, s.square);  // which is symmetric
  scale_and_add(Queue{}, s.square, quintic.c, s.gram, quintic.b);
  if (wide)
    linear_backward_input(Queue{}, s.gram, s.x, s.next);
  else
    linear_backward_input(Queue{}, s.x, s.gram, s.next);
  scale_and_add(Queue{}, s.x, quintic.a, s.next, 1);
  std::swap(s.x, s.next);
}

}  // namespace

void orthogonalize(Queue, View matrix, View workspace, double squared_scale, std::int64_t iterations) {
  Scratch s(workspace, matrix.shape);
  scale(Queue{}, matrix, 1 / std::max(std::sqrt(sum_of_squares(Queue{}, matrix).value()), least_norm), s.x);
  for (std::int64_t i = 0; i < iterations; ++i) iterate(s);
  scale(Queue{}, s.x, std::sqrt(squared_scale), matrix);
}

}  // namespace monomorph::cpu
