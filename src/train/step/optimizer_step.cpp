#include "train/step/optimizer_step.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace monomorph::train {
namespace {

bool clips_norm(ClipMode mode) {
  return mode == ClipMode::norm_1 || mode == ClipMode::norm_2 || mode == ClipMode::norm_inf;
}

/// One that is not finite would leave no parameter finite.
void check_rate(double of_peak, std::int64_t update) {
  if (std::isfinite(of_peak) && of_peak >= 0) return;
  throw Error("RUN-24",
              fmt::format("the rate that the recipe's schedule gives must be finite and at least 0, and is {} of its "
                          "peak in update {}; change the schedule's hyperparameters, or mend it",
                          of_peak, update));
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

OptimizerStepResult optimizer_step(TrainingStep& step, const OptimizerHparams& hparams, const ScheduledRate& rate,
                                   const GlobalStepStats& totals, std::int64_t update) {
  const ClipMode mode = hparams.clip.mode.value;
  const double per_token = totals.gradient_scale(), threshold = hparams.clip.threshold.value;
  const double norm = totals.gradient_norm * per_token;
  OptimizerStepResult result{.applied = std::isfinite(norm), .grad_norm = norm};
  if (mode == ClipMode::none) result.grad_norm.reset();
  if (!result.applied) return result;

  check_rate(rate.of(1), update);
  const double clip_factor = clips_norm(mode) && norm > threshold ? threshold / norm : 1;
  step.update(hparams.policy,
              {.gradient_scale = per_token * clip_factor,
               .clip_value = mode == ClipMode::value ? threshold : std::numeric_limits<double>::infinity(),
               .update = static_cast<std::uint64_t>(update),
               .rate_times = rate.times,
               .rate_over = rate.over});
  return result;
}

}  // namespace monomorph::train
