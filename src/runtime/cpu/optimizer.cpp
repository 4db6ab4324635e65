#include <algorithm>
#include <monomorph/core/error.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <string>
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
    const KernelSpan span(Work::optimizer, #function);                                                         \
    if (terms.decision->applies) MONOMORPH_SELECT(function)(run, coefficients, decided(terms));                \
  }
MONOMORPH_UPDATE(adamw, AdamWCoefficients)
MONOMORPH_UPDATE(sgd, SgdCoefficients)
MONOMORPH_UPDATE(lion, LionCoefficients)
MONOMORPH_UPDATE(momentum_mean, MomentumCoefficients)
MONOMORPH_UPDATE(step_along, DirectionCoefficients)
MONOMORPH_UPDATE(move_average, AverageCoefficients)
#undef MONOMORPH_UPDATE

MONOMORPH_PER_ISA(void update_chunks(const ElementUpdate& run, const UpdateScalars& scalars,
                                     const detail::ChunkFunction& function))
namespace {
void check_state(const ElementUpdate& run, int n_state) {
  const auto given = std::ranges::count_if(run.state, &View::present);
  if (given == n_state || !run.master.present()) return;
  throw Error("KERNEL-08",
              "each_element<n> must be given as many buffers as state(ParameterClass) of the optimizer "
              "names, and is given " +
                  std::to_string(given) + " where n is " + std::to_string(n_state) + "; change n, or state()");
}
}  // namespace
void detail::update_chunks(const ElementUpdate& run, const UpdateTerms& terms, const ChunkFunction& function,
                           int n_state) {
  check_state(run, n_state);
  const KernelSpan span(Work::optimizer, "each_element");
  if (terms.decision->applies) MONOMORPH_SELECT(update_chunks)(run, decided(terms), function);
}

void add_to_norm(Queue queue, View x, GradientNorm order, PartialGradientNorm* norm) {
  const KernelSpan span(Work::optimizer, "add_to_norm");
  switch (order) {
    case GradientNorm::one:
      return norm->sum.add(sum_of_magnitudes(queue, x));
    case GradientNorm::two:
      return norm->sum.add(sum_of_squares(queue, x));
    case GradientNorm::infinity:
      norm->greatest = larger_or_nan(norm->greatest, greatest_magnitude(queue, x));
  }
}

}  // namespace monomorph::cpu
