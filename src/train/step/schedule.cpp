#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/schedule.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace monomorph::train {
namespace {

/// How much of `steps` steps has passed at step `first + passed`, in [0, 1].
double progress(std::int64_t passed, std::int64_t steps) {
  if (passed <= 0) return 0.0;
  return passed >= steps ? 1.0 : static_cast<double>(passed) / static_cast<double>(steps);
}

/// The factor of the peak after the warm-up.
double factor(const ScheduleHparams& schedule, std::int64_t step, std::int64_t total_steps) {
  const std::int64_t warmup_steps = schedule.warmup_steps;
  const std::int64_t decay_steps = schedule.decay_steps.value.value_or(total_steps - warmup_steps);
  const double final_fraction = schedule.final_fraction;
  const double after_warmup = progress(step - warmup_steps, decay_steps);
  switch (schedule.kind.value) {
    case ScheduleKind::constant:
      return 1.0;
    case ScheduleKind::linear:
      return 1.0 - (1.0 - final_fraction) * after_warmup;
    case ScheduleKind::cosine:
      return final_fraction + (1.0 - final_fraction) * 0.5 * (1.0 + std::cos(std::numbers::pi * after_warmup));
    case ScheduleKind::wsd:
      return 1.0 - (1.0 - final_fraction) * progress(step - (total_steps - decay_steps), decay_steps);
    case ScheduleKind::inverse_sqrt:
      return std::max(final_fraction, std::sqrt(static_cast<double>(warmup_steps + 1) / static_cast<double>(step + 1)));
  }
  return 1.0;  // not reached: all kinds return above
}

}  // namespace

ScheduledRate scheduled_rate(const ScheduleHparams& schedule, std::int64_t step, std::int64_t total_steps) {
  const std::int64_t warmup_steps = schedule.warmup_steps;
  if (step < warmup_steps) return {static_cast<double>(step + 1), static_cast<double>(warmup_steps + 1)};
  return {factor(schedule, step, total_steps), 1};
}

}  // namespace monomorph::train
