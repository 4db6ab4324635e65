// expect-error: \[PLAN-04\] budget\.bytes_per_rank must be positive; change Budget::bytes_per_rank
// expect-text: BudgetPositive<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::Budget budget{.ranks = 1,
                                            .bytes_per_rank = monomorph::gib(NEGATIVE ? 0 : 1),
                                            .micro_batch = 1};
};
static_assert(monomorph::admit<Case>());
