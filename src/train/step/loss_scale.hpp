#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/run_state.hpp>

namespace monomorph::train {

/// Dynamic loss scaling (Micikevicius et al. 2018, section 3.2), for fp16 compute alone: a scale that makes gradients
/// infinite is halved and the step skipped; after loss_scale.growth_steps steps without, it is doubled.

/// Of a run's first step: 1 where compute is not in fp16.
double initial_loss_scale(DType compute, const LossScaleHparams& hparams);

/// Whether a run has such a scale, with whatever hyperparameters and compute.
bool can_be_loss_scale(double scale);

/// Whether a step that is skipped for its gradients may be the scale's fault.
bool can_lower(double scale, DType compute, const LossScaleHparams& hparams);

/// Brings the scale up to date after a step.   @param applied false: its gradients were not finite
void update_loss_scale(RunState& state, bool applied, DType compute, const LossScaleHparams& hparams);

}  // namespace monomorph::train
