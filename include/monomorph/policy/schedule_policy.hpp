#pragma once
#include <concepts>
#include <cstdint>
#include <monomorph/policy/axis.hpp>
#include <utility>

namespace monomorph {

class Mistakes;  // core/mistakes.hpp

/// What a schedule multiplies peak learning rates by. It is a quotient, so that a factor such as 2 / 3 is rounded only
/// once, together with the rate.
struct ScheduledRate {
  double times = 1, over = 1;
  constexpr double of(double peak) const { return peak * times / over; }
};

/// How the learning rate goes through a run. A policy may export `template <class R> using rules = RuleList<…>`.
/// Besides the parts, it may have
///
///   static void validate(const Hparams&, std::int64_t total_steps, Mistakes&);
///
/// which says what is wrong between its hyperparameters, or with those of a run of so many steps. Bounds of a single
/// one are its Field's.
struct ScheduleAxis {
  MONOMORPH_OPTIONAL_AXIS(schedule, "monomorph::schedule::WarmupDecay")
  MONOMORPH_LOOK_UPS(Look, validate);
  template <class P> struct Parts {
    static constexpr bool hparams = requires { typename P::Hparams; };
    static constexpr bool rate = requires(std::int64_t step) {
      { P::rate(std::declval<const typename P::Hparams&>(), step, step) } -> std::same_as<ScheduledRate>;
    };
    static constexpr bool validate = !Look::has_validate<P> || requires(std::int64_t steps, Mistakes& mistakes) {
      { P::validate(std::declval<const typename P::Hparams&>(), steps, mistakes) } -> std::same_as<void>;
    };
    static constexpr bool all_hold = hparams && rate && validate;
    static consteval void explain() {
      static_assert(hparams,
                    "[SCHEDULE-01] a schedule must have `struct Hparams`, adapted by BOOST_HANA_ADAPT_STRUCT: the "
                    "section `schedule` of the hyperparameters (docs/rules.md#schedule-01)");
      static_assert(rate,
                    "[SCHEDULE-01] a schedule must have `static monomorph::ScheduledRate rate(const Hparams&, "
                    "std::int64_t step, std::int64_t total_steps)`: the rate of a step, counted from 0 "
                    "(docs/rules.md#schedule-01)");
      static_assert(validate || !hparams,
                    "[SCHEDULE-01] a schedule's validate, if it has one, must be `static void validate(const Hparams&, "
                    "std::int64_t total_steps, monomorph::Mistakes&)`: what is wrong between its hyperparameters "
                    "(docs/rules.md#schedule-01)");
    }
  };
};
template <class P> concept SchedulePolicy = Fits<ScheduleAxis, P>;

}  // namespace monomorph
