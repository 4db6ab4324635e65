// expect-error: \[PLAN-01\] the planned parameters must be as many as expected; change Expect::params
// expect-text: ParametersAsExpected<321280, 1>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::Expect expect{.params = NEGATIVE ? 1 : 321'280};
};
static_assert(monomorph::admit<Case>());
