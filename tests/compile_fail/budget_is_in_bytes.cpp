// expect-error: \[PLAN-07\] budget\.bytes_per_rank must be at least 65536, as it is in bytes
// expect-text: BudgetIsInBytes<80>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::Budget budget{.ranks = 8,
                                            .bytes_per_rank = NEGATIVE ? 80 : monomorph::gib(80),
                                            .micro_batch = 1};
};
static_assert(monomorph::admit<Case>());
