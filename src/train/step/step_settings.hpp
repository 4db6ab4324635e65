#pragma once
#include <monomorph/policy/schedule_policy.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/step_decision.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// What hyperparameters say of the decision about a step. Whether gradients are finite is decided from their norm, in
/// every clipping mode.
StepSettings step_settings(const ClipHparams& clip, const LossScaling& loss_scaling);

/// What they say of an update.   @param step of the run, from 1   @throws Error [RUN-24] a rate that can be no rate
UpdateSettings update_settings(const ClipHparams& clip, const ScheduledRate& rate, std::int64_t step);

}  // namespace monomorph::train
