#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/optimizer_policy.hpp>

namespace monomorph::rule {
/// A rule of optimisers that are made of others.
template <bool places_state, bool rounds_state> struct PartsLeaveStateToWhole {
  static constexpr bool holds = !places_state && !rounds_state;
  static consteval void explain() {
    static_assert(holds,
                  "[OPTIM-04] the optimizers in ByClass or Averaged must not say in which dtype, or where, their state "
                  "lies; write Bf16State<ByClass<...>>, HostState<ByClass<...>> or HostState<Averaged<...>> "
                  "(docs/rules.md#optim-04)");
  }
};
template <class... Optimizers>
using NoneKeepsState = PartsLeaveStateToWhole<(OptimizerAxis::Look::has_state_space<Optimizers> || ...),
                                              (OptimizerAxis::Look::has_state_dtype<Optimizers> || ...)>;
}  // namespace monomorph::rule
