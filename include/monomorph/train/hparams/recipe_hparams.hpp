#pragma once
#include <monomorph/core/hparams.hpp>
#include <monomorph/objective/next_token.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/policy/schedule_policy.hpp>
#include <monomorph/schedule/warmup_decay.hpp>

#include <cstdint>

// The hyperparameters of default policies are compiled once, in src/train/hparams/hparams.cpp, not with every recipe.
extern template monomorph::PolicyHparams monomorph::PolicyHparams::of<monomorph::optim::AdamW::Hparams>();
extern template monomorph::PolicyHparams monomorph::PolicyHparams::of<monomorph::objective::NextToken::Hparams>();
extern template monomorph::PolicyHparams monomorph::PolicyHparams::of<monomorph::NoHparams>();
extern template const monomorph::optim::AdamW::Hparams& monomorph::PolicyHparams::as() const;
extern template const monomorph::objective::NextToken::Hparams& monomorph::PolicyHparams::as() const;

namespace monomorph::train {

/// What the recipe's schedule brings, and the schedule.
struct ScheduleHparams {
  template <SchedulePolicy P> static ScheduleHparams of() { return made_of<P>(); }
  template <SchedulePolicy P> static ScheduleHparams made_of() {
    using OwnHparams = typename P::Hparams;
    return {.policy = PolicyHparams::of<OwnHparams>(),
            .rate_of = [](const PolicyHparams& hparams, std::int64_t step,
                          std::int64_t total_steps) { return P::rate(hparams.as<OwnHparams>(), step, total_steps); },
            .validate_by =
                [](const PolicyHparams& hparams, std::int64_t total_steps, Mistakes& mistakes) {
                  if constexpr (ScheduleAxis::Look::has_validate<P>)
                    P::validate(hparams.as<OwnHparams>(), total_steps, mistakes);
                }};
  }
  ScheduledRate rate(std::int64_t step, std::int64_t total_steps) const { return rate_of(policy, step, total_steps); }
  void validate(std::int64_t total_steps, Mistakes& mistakes) const { validate_by(policy, total_steps, mistakes); }

  PolicyHparams policy;
  ScheduledRate (*rate_of)(const PolicyHparams&, std::int64_t step, std::int64_t total_steps);
  void (*validate_by)(const PolicyHparams&, std::int64_t total_steps, Mistakes&);
};

/// Those of the default schedule are compiled once, too.
template <> ScheduleHparams ScheduleHparams::of<schedule::WarmupDecay>();

/// The hyperparameters that the policies of a recipe bring, here those of the default policies, with their default
/// values. All others are the same for all
/// recipes: train/hparams/hparams.hpp.
struct RecipeHparams {
  PolicyHparams optimizer = PolicyHparams::of<optim::AdamW::Hparams>();
  PolicyHparams objective = PolicyHparams::of<objective::NextToken::Hparams>();
  PolicyHparams observer = PolicyHparams::of<NoHparams>();
  ScheduleHparams schedule = ScheduleHparams::of<schedule::WarmupDecay>();
};

}  // namespace monomorph::train
