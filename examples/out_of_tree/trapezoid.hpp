#pragma once
#include <boost/hana/adapt_struct.hpp>
#include <cmath>
#include <monomorph/core/error.hpp>
#include <monomorph/core/field.hpp>
#include <monomorph/core/mistakes.hpp>
#include <monomorph/policy/schedule_policy.hpp>
#include <string>

namespace stranger {

struct TrapezoidHparams {
  monomorph::Field<std::int64_t> rise{2, 0, 1'000'000, "steps in which the rate rises to its peak"};
  monomorph::Field<std::int64_t> cool_down{4, 0, 1'000'000, "last steps, in which it falls as 1 - sqrt(p)"};
};

/// A rate that rises, stays, and falls as one minus a root in the last steps (Haegele et al. 2024, 1-sqrt).
struct Trapezoid {
  using Hparams = TrapezoidHparams;
  static monomorph::ScheduledRate rate(const Hparams& hparams, std::int64_t step, std::int64_t total_steps) {
    if (step < hparams.rise) return {static_cast<double>(step + 1), static_cast<double>(hparams.rise + 1)};
    const std::int64_t fallen = step - (total_steps - hparams.cool_down);
    if (fallen <= 0) return {};
    return {.times = 1 - std::sqrt(static_cast<double>(fallen) / static_cast<double>(hparams.cool_down))};
  }
  static void validate(const Hparams& hparams, std::int64_t total_steps, monomorph::Mistakes& mistakes) {
    mistakes.check({"schedule.rise", "schedule.cool_down", "run.steps"}, [&] {
      if (hparams.rise + hparams.cool_down > total_steps)
        throw monomorph::UsageError("STRANGE-01",
                                    "schedule.rise + schedule.cool_down = " + std::to_string(hparams.rise) + " + " +
                                        std::to_string(hparams.cool_down) + " must be at most run.steps = " +
                                        std::to_string(total_steps) + "; lower schedule.cool_down");
    });
  }
};
static_assert(monomorph::SchedulePolicy<Trapezoid>);

}  // namespace stranger

BOOST_HANA_ADAPT_STRUCT(stranger::TrapezoidHparams, rise, cool_down);
