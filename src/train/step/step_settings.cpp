#include "train/step/step_settings.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <cmath>

namespace monomorph::train {
namespace {

bool clips_norm(ClipMode mode) {
  return mode == ClipMode::norm_1 || mode == ClipMode::norm_2 || mode == ClipMode::norm_inf;
}

GradientNorm norm_of(ClipMode mode) {
  switch (mode) {
    case ClipMode::norm_1:
      return GradientNorm::one;
    case ClipMode::norm_inf:
      return GradientNorm::infinity;
    default:
      return GradientNorm::two;
  }
}

}  // namespace

StepSettings step_settings(const ClipHparams& clip, const LossScaling& loss_scaling) {
  StepSettings settings{.norm = norm_of(clip.mode), .loss_scaling = loss_scaling};
  if (clips_norm(clip.mode)) settings.max_norm = clip.threshold;
  return settings;
}

UpdateSettings update_settings(const ClipHparams& clip, const ScheduledRate& rate, std::int64_t step) {
  if (const double of_peak = rate.of(1); !std::isfinite(of_peak) || of_peak < 0)  // no parameter would stay finite
    throw Error("RUN-24",
                fmt::format("the rate that the recipe's schedule gives must be finite and at least 0, and is {} of its "
                            "peak in step {}; change the schedule's hyperparameters, or mend it",
                            of_peak, step));
  UpdateSettings settings{.rate_times = rate.times, .rate_over = rate.over};
  if (clip.mode == ClipMode::value) settings.clip_value = clip.threshold;
  return settings;
}

}  // namespace monomorph::train
