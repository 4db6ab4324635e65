#include <monomorph/core/error.hpp>
#include <monomorph/core/mistakes.hpp>
#include <monomorph/schedule/warmup_decay_hparams.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numbers>

namespace monomorph::schedule {
namespace {

/// How much of `steps` steps has passed at step `first + passed`, in [0, 1].
double progress(std::int64_t passed, std::int64_t steps) {
  if (passed <= 0) return 0.0;
  return passed >= steps ? 1.0 : static_cast<double>(passed) / static_cast<double>(steps);
}

/// The factor of the peak after the warm-up.
double factor(const WarmupDecayHparams& schedule, std::int64_t step, std::int64_t total_steps) {
  const std::int64_t warmup_steps = schedule.warmup_steps;
  const std::int64_t decay_steps = schedule.decay_steps.value.value_or(total_steps - warmup_steps);
  const double final_fraction = schedule.final_fraction;
  const double after_warmup = progress(step - warmup_steps, decay_steps);
  switch (schedule.kind.value) {
    case DecayKind::constant:
      return 1.0;
    case DecayKind::linear:
      return 1.0 - (1.0 - final_fraction) * after_warmup;
    case DecayKind::cosine:
      return final_fraction + (1.0 - final_fraction) * 0.5 * (1.0 + std::cos(std::numbers::pi * after_warmup));
    case DecayKind::wsd:
      return 1.0 - (1.0 - final_fraction) * progress(step - (total_steps - decay_steps), decay_steps);
    case DecayKind::inverse_sqrt:
      return std::max(final_fraction, std::sqrt(static_cast<double>(warmup_steps + 1) / static_cast<double>(step + 1)));
  }
  return 1.0;  // not reached: all kinds return above
}

void check_warmup(std::int64_t warmup_steps, std::int64_t steps) {
  if (warmup_steps <= steps) return;
  throw UsageError("HPARAM-12", fmt::format("schedule.warmup_steps = {} must be at most run.steps = {}; lower "
                                            "schedule.warmup_steps",
                                            warmup_steps, steps));
}

void check_decay_given(DecayKind kind, const std::optional<std::int64_t>& decay_steps) {
  const bool has_no_decay = kind == DecayKind::constant || kind == DecayKind::inverse_sqrt;
  if (!decay_steps && kind == DecayKind::wsd)
    throw UsageError("HPARAM-14",
                     "schedule.decay_steps must be a number with schedule.kind = \"wsd\"; give it, a tenth to "
                     "a fifth of run.steps being usual");
  if (decay_steps && has_no_decay)
    throw UsageError("HPARAM-15",
                     fmt::format("schedule.decay_steps = {} has no meaning with schedule.kind = \"{}\"; remove "
                                 "it or change schedule.kind",
                                 *decay_steps, name_of(kind)));
}

/// A warm-up or decay that is wrong by itself is told by itself.
void check_decay(const WarmupDecayHparams& schedule, std::int64_t steps) {
  const DecayKind kind = schedule.kind;
  check_decay_given(kind, schedule.decay_steps.value);
  const std::int64_t warmup_steps = schedule.warmup_steps, decay_steps = schedule.decay_steps.value.value_or(0);
  if (warmup_steps > steps || warmup_steps + decay_steps <= steps) return;
  throw UsageError("HPARAM-13",
                   fmt::format("schedule.warmup_steps + schedule.decay_steps = {} + {} = {} must be at most "
                               "run.steps = {}; lower schedule.decay_steps",
                               warmup_steps, decay_steps, warmup_steps + decay_steps, steps));
}

}  // namespace

ScheduledRate WarmupDecay::rate(const Hparams& hparams, std::int64_t step, std::int64_t total_steps) {
  const std::int64_t warmup_steps = hparams.warmup_steps;
  if (step < warmup_steps) return {static_cast<double>(step + 1), static_cast<double>(warmup_steps + 1)};
  return {factor(hparams, step, total_steps), 1};
}

void WarmupDecay::validate(const Hparams& hparams, std::int64_t total_steps, Mistakes& mistakes) {
  mistakes.check({"schedule.warmup_steps", "run.steps"}, [&] { check_warmup(hparams.warmup_steps, total_steps); });
  mistakes.check({"schedule.kind", "schedule.warmup_steps", "schedule.decay_steps", "run.steps"},
                 [&] { check_decay(hparams, total_steps); });
}

}  // namespace monomorph::schedule
