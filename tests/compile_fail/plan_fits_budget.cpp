// expect-error: \[PLAN-02\] the planned bytes per rank must fit budget\.bytes_per_rank; change checkpointing,
// expect-text: PlanFitsBudget<[0-9]+, 1048576, [0-9]+, [0-9]+, [0-9]+>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::Budget budget{.ranks = 2,
                                            .bytes_per_rank = monomorph::mib(NEGATIVE ? 1 : 64),
                                            .micro_batch = 4};
};
static_assert(monomorph::admit<Case>());
