#pragma once
#include "train/step/step_stats.hpp"

#include <monomorph/policy/schedule_policy.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <optional>

namespace monomorph::train {

struct OptimizerStepResult {
  bool applied = false;             ///< false: the gradients were not finite, and nothing changed
  std::optional<double> grad_norm;  ///< of the mean loss, before clipping; absent with ClipMode::none
};

/// The norm that the optimiser step wants to know.
GradientNorm norm_order(ClipMode mode);

/// Decision, clipping and the optimiser's pass, all by one number. Whether gradients are finite is decided from their
/// global norm, in every clipping mode.
/// @param update number of this update, from 1 (bias correction)   @throws Error [RUN-24] a rate that can be no rate
OptimizerStepResult optimizer_step(TrainingStep& step, const OptimizerHparams& hparams, const ScheduledRate& rate,
                                   const GlobalStepStats& totals, std::int64_t update);

}  // namespace monomorph::train
