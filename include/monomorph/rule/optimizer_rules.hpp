#pragma once
#include <monomorph/core/rule.hpp>

namespace monomorph::rule {

template <int moments> struct MomentsOfAdam {
  static constexpr bool holds = moments == 2;
  static consteval void explain() {
    static_assert(holds,
                  "[OPTIM-01] the optimizer must keep 2 moments per parameter in this release, whose update is "
                  "AdamW's; change optimizer to AdamW or AdamWDecaying<classes> (docs/rules.md#optim-01)");
  }
};
template <bool predicts_next_token> struct ObjectiveIsNextToken {
  static constexpr bool holds = predicts_next_token;
  static consteval void explain() {
    static_assert(holds,
                  "[OBJ-01] the objective must predict the next token in this release; change objective to NextToken "
                  "(docs/rules.md#obj-01)");
  }
};

template <class R> consteval auto optimizer_rules() {
  if constexpr (requires { typename R::objective; })
    return RuleList<MomentsOfAdam<R::optimizer::moments>, ObjectiveIsNextToken<R::objective::predicts_next_token>>{};
  else
    return RuleList<MomentsOfAdam<R::optimizer::moments>>{};
}

}  // namespace monomorph::rule
