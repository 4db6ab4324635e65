#pragma once
#include <monomorph/runtime/kernels/optimizer.hpp>

#include <cmath>
#include <cstdint>

namespace monomorph::testing {

/// Update `number`, from 1, with usual settings.
inline kernels::AdamWStep adamw_step(std::int64_t number, double gradient_scale) {
  const auto t = static_cast<double>(number);
  return {.learning_rate = 1e-3,
          .beta1 = 0.9,
          .beta2 = 0.95,
          .epsilon = 1e-8,
          .weight_decay = 0.1,
          .bias_correction1 = 1 - std::pow(0.9, t),
          .bias_correction2 = 1 - std::pow(0.95, t),
          .gradient_scale = gradient_scale,
          .clip_value = 1e9,
          .update = static_cast<std::uint64_t>(number)};
}

}  // namespace monomorph::testing
