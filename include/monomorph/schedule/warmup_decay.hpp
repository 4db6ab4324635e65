#pragma once
#include <monomorph/policy/schedule_policy.hpp>

namespace monomorph::schedule {

struct WarmupDecayHparams;  // schedule/warmup_decay_hparams.hpp, which recipes need not see

/// A linear warm-up, then what the hyperparameter `kind` names.
///
/// With w = warmup_steps, T = total_steps, d = decay_steps (linear, cosine: T - w unless given), f = final_fraction:
/// - warm-up, step < w:  peak (step + 1) / (w + 1), so that no step is lost at a rate of 0 (Goyal et al. 2017, 2.2)
/// - constant:           peak
/// - linear:             peak (1 - (1 - f) p), p = min(1, (step - w) / d)
/// - cosine:             peak (f + (1 - f) (1 + cos(pi p)) / 2)                 (Loshchilov and Hutter 2016, eq. 5)
/// - wsd:                peak until T - d, then linear with p = (step - (T - d)) / d   (Haegele et al. 2024, linear
/// cooldown)
/// - inverse_sqrt:       peak max(f, sqrt((w + 1) / (step + 1)))                 (Vaswani et al. 2017, 5.3)
///
/// All are continuous at the end of the warm-up. A rate of exactly f peak belongs to step w + d: with the default d
/// that is the step after the last, so a run that decays to 0 wastes none.
struct WarmupDecay {
  using Hparams = WarmupDecayHparams;
  static ScheduledRate rate(const Hparams& hparams, std::int64_t step, std::int64_t total_steps);
  /// @param mistakes receives [HPARAM-12] to [HPARAM-15]
  static void validate(const Hparams& hparams, std::int64_t total_steps, Mistakes& mistakes);
};

}  // namespace monomorph::schedule
