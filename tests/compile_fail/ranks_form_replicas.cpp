// expect-error: \[PLAN-03\] budget\.ranks must be a positive multiple of tp pp cp; change Budget::ranks
// expect-text: RanksFormReplicas<0, 1>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::Budget budget{.ranks = NEGATIVE ? 0 : 3,
                                            .bytes_per_rank = monomorph::gib(1),
                                            .micro_batch = 1};
};
static_assert(monomorph::admit<Case>());
