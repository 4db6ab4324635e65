// expect-error: \[PLAN-05\] budget\.micro_batch must lie in 1\.\.16777216; change Budget::micro_batch
// expect-text: MicroBatchInRange<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::Budget budget{.ranks = 1,
                                            .bytes_per_rank = monomorph::gib(1),
                                            .micro_batch = NEGATIVE ? 0 : 1};
};
static_assert(monomorph::admit<Case>());
