#pragma once
#include <monomorph/policy/objective_policy.hpp>

namespace stranger {

/// An objective of which only every second target counts: the others are ignored before a batch is made.
template <monomorph::ObjectivePolicy Objective> struct EverySecondToken : Objective {
  static void prepare(const monomorph::Sample& sample, const typename Objective::Hparams&) {
    for (std::int64_t t = 1; t < sample.T; t += 2) sample.targets_T[t] = monomorph::ignored_target;
  }
};

}  // namespace stranger
