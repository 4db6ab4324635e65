#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>

#include <span>
#include <variant>

namespace monomorph::cuda {

/// What a rule is told, by which it is known, too.
using AnyCoefficients = std::variant<AdamWCoefficients, SgdCoefficients, LionCoefficients, MomentumCoefficients,
                                     DirectionCoefficients, AverageCoefficients>;

struct Update {
  ElementUpdate run;
  AnyCoefficients coefficients;
  UpdateTerms terms;
};

/// Starts updates of one rule and one set of dtypes, which may run side by side, as few kernels as have room for them.
/// @throws Error [KERNEL-05] CUDA does not start one
/// @throws std::logic_error a run is not of whole groups of 64 elements, or has dtypes that no kernel is made for
void start_updates(Queue queue, std::span<const Update> updates);

}  // namespace monomorph::cuda
