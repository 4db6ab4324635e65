#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/optimizer_policy.hpp>

namespace monomorph::rule {
/// A rule of optimisers that are made of others.
template <bool grouped_part> struct PartsAreNotGrouped {
  static constexpr bool holds = !grouped_part;
  static consteval void explain() {
    static_assert(holds,
                  "[OPTIM-11] the optimizers in ByClass, Averaged or Grouped must not list groups; write "
                  "Grouped<ByClass<...>, Groups> with all of them (docs/rules.md#optim-11)");
  }
};
template <class... Optimizers>
using NoneIsGrouped = PartsAreNotGrouped<(OptimizerAxis::Look::has_groups<Optimizers> || ...)>;
}  // namespace monomorph::rule
