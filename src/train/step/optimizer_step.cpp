#include "train/step/optimizer_step.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace monomorph::train {
namespace {

bool clips_norm(ClipMode mode) {
  return mode == ClipMode::norm_1 || mode == ClipMode::norm_2 || mode == ClipMode::norm_inf;
}

}  // namespace

GradientNorm norm_order(ClipMode mode) {
  switch (mode) {
    case ClipMode::norm_1:
      return GradientNorm::one;
    case ClipMode::norm_inf:
      return GradientNorm::infinity;
    default:
      return GradientNorm::two;
  }
}

OptimizerStepResult optimizer_step(TrainingStep& step, const OptimizerHparams& hparams, double learning_rate,
                                   const StepTotals& totals, std::int64_t update) {
  const ClipMode mode = hparams.clip.mode.value;
  const double per_token = 1 / (static_cast<double>(totals.tokens) * totals.loss_scale),
               threshold = hparams.clip.threshold.value;
  const double norm = totals.gradient_norm * per_token;
  OptimizerStepResult result{.applied = std::isfinite(norm), .grad_norm = norm};
  if (mode == ClipMode::none) result.grad_norm.reset();
  if (!result.applied) return result;

  const double clip_factor = clips_norm(mode) && norm > threshold ? threshold / norm : 1;
  const double beta1 = hparams.beta1.value, beta2 = hparams.beta2.value, t = static_cast<double>(update);
  step.update({.learning_rate = learning_rate,
               .beta1 = beta1,
               .beta2 = beta2,
               .epsilon = hparams.epsilon.value,
               .weight_decay = hparams.weight_decay.value,
               .bias_correction1 = 1 - std::pow(beta1, t),
               .bias_correction2 = 1 - std::pow(beta2, t),
               .gradient_scale = per_token * clip_factor,
               .clip_value = mode == ClipMode::value ? threshold : std::numeric_limits<double>::infinity(),
               .update = static_cast<std::uint64_t>(update)});
  return result;
}

}  // namespace monomorph::train
