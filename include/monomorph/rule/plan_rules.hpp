#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/memory.hpp>

namespace monomorph::rule {

template <std::int64_t planned, std::int64_t expected> struct ParamsAsExpected {
  static constexpr bool holds = planned == expected;
  static consteval void explain() {
    static_assert(holds, "[PLAN-01] the planned parameters must be as many as expected; change Expect::params "
                         "(docs/rules.md#plan-01)");
  }
};

/// Judged only when all value rules hold.
template <class R> consteval auto plan_rules() {
  if constexpr (requires { R::expect; })
    return RuleList<ParamsAsExpected<plan::params<R>, R::expect.params.value>>{};
  else
    return RuleList<>{};
}

}  // namespace monomorph::rule
