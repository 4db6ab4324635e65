// expect-error: \[PLAN-01\] the planned parameters must be as many as expected
// expect-error: \[PLAN-02\] the planned bytes per rank must fit
// expect-text: ParametersAsExpected<321280, 5>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::Expect expect{.params = NEGATIVE ? 5 : 321'280};
  static constexpr monomorph::Budget budget{.ranks = 8,
                                            .bytes_per_rank = monomorph::mib(NEGATIVE ? 1 : 64),
                                            .micro_batch = 1};
};
static_assert(monomorph::admit<Case>());
