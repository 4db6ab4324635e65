#pragma once
#include <monomorph/core/hparams.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <cstdint>

namespace monomorph::testing {

inline const PolicyHparams& adamw_hparams() {
  static const PolicyHparams hparams = [] {
    auto usual = PolicyHparams::of<optim::AdamW::Hparams>();
    usual.as<optim::AdamW::Hparams>().lr.value = 1e-3;
    return usual;
  }();
  return hparams;
}

/// Update `number`, from 1.   @param hparams of the recipe's optimiser
inline void update(train::TrainingStep& step, std::int64_t number, double gradient_scale,
                   const PolicyHparams& hparams = adamw_hparams()) {
  step.update(hparams,
              {.gradient_scale = gradient_scale, .clip_value = 1e9, .update = static_cast<std::uint64_t>(number)});
}

}  // namespace monomorph::testing
