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

/// Forward and backward of a micro-batch, and its loss.
inline LossSum accumulate(train::TrainingStep& step, const train::MicroBatch& batch, std::uint64_t number,
                          train::AccumulationStep accumulation_step) {
  step.accumulate(batch, number, accumulation_step);
  return step.scalars().micro_batch;
}

inline void set_loss_scale(train::TrainingStep& step, double scale) {
  step.change_scalars([&](StepScalars& scalars) { scalars.loss_scale.value = scale; });
}

/// Ends the step's micro-batches, and counts no update.   @return what this rank's gradients, not scaled, add to their
/// norm
inline PartialGradientNorm gradient_norm(train::TrainingStep& step, GradientNorm order = GradientNorm::two) {
  const std::int64_t updates = step.scalars().updates;
  step.read(step.decide({.norm = order}));
  step.change_scalars([&](StepScalars& scalars) { scalars.updates = updates; });
  return step.scalars().gradient_norm;
}

/// Update `number`, from 1, as a test has decided it.   @param hparams of the recipe's optimiser
inline void update(train::TrainingStep& step, std::int64_t number, double gradient_scale,
                   const PolicyHparams& hparams = adamw_hparams(),
                   const train::UpdateSettings& settings = {.clip_value = 1e9}) {
  step.change_scalars([&](StepScalars& scalars) {
    scalars.decision = {.gradient_scale = gradient_scale, .update = static_cast<std::uint64_t>(number)};
  });
  step.update(hparams, settings);
}

}  // namespace monomorph::testing
