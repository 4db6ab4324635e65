// expect-error: \[SHARD-09\] each rank must hold at least 64 elements of every unit
// expect-text: 21632; int shards = 4096|ShardsHoldElements<21632, 4096>
#include "support/control.hpp"
struct Case : Control {
  static constexpr monomorph::Budget budget{.ranks = NEGATIVE ? 4096 : 64,
                                            .bytes_per_rank = monomorph::gib(4),
                                            .micro_batch = 1};
};
static_assert(monomorph::admit<Case>());
