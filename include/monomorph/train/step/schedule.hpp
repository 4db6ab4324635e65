#pragma once
#include <cstdint>

namespace monomorph::train {

struct ScheduleHparams;

/// What a schedule makes of peak learning rates.
struct ScheduledRate {
  double times = 1, over = 1;
  double of(double peak) const { return peak * times / over; }
};

/// The learning rate of optimiser step `step`, counted from 0, of a run of `total_steps`.
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
ScheduledRate scheduled_rate(const ScheduleHparams& schedule, std::int64_t step, std::int64_t total_steps);

}  // namespace monomorph::train
