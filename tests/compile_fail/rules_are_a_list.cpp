// expect-error: \[RECIPE-12\] the rules of a policy, a block, a part of one or a kind of model must be
// expect-text: Objective, Case
#include "support/control.hpp"
struct Objective : monomorph::objective::NextToken {
#if NEGATIVE
  template <class R> struct rules {};
#else
  template <class R> using rules = monomorph::RuleList<>;
#endif
};
struct Case : Control {
  using objective = Objective;
};
static_assert(monomorph::admit<Case>());
