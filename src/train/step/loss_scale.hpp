#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/step_decision.hpp>

namespace monomorph::train {

/// Loss scales are for fp16 compute alone.

LossScaling loss_scaling_of(DType compute, const LossScaleHparams& hparams);

/// The loss scale of a run's first step: 1 where compute is not in fp16.
double initial_loss_scale(DType compute, const LossScaleHparams& hparams);

/// Whether a run has such a scale, with whatever hyperparameters and compute.
bool can_be_loss_scale(double scale);

/// Whether a step that is skipped for its gradients may be the scale's fault.
bool can_lower(double scale, const LossScaling& scaling);

}  // namespace monomorph::train
