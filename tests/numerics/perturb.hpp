#pragma once
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/train/step/training_step.hpp>

#include "support/tensors.hpp"

#include <cstdint>

namespace monomorph::testing {

/// Moves every parameter a little. Norm weights and biases must not be one and zero, or errors in them would not show.
inline void perturb(train::TrainingStep& step) {
  std::uint32_t site = 0;
  for (const train::StateTensor& tensor : step.parameters()) {
    Values values = values_of(tensor.view);
    ++site;
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] += 0.4 * (random::uniform({9, random::Purpose::sampling, 0, site}, i) - 0.5);
    assign(tensor.view, values);
  }
  step.parameters_changed();
}

}  // namespace monomorph::testing
