// expect-error: \[SHARD-02\] n of HybridShard<n> or HybridShardGradOp<n> must divide the data-parallel ranks
// expect-text: HybridGroupDividesRanks<3, 8>
#include "support/control.hpp"
struct Case : Control {
  using sharding = monomorph::sharding::HybridShardGradOp<NEGATIVE ? 3 : 4>;
  static constexpr monomorph::Budget budget{.ranks = 8, .bytes_per_rank = monomorph::gib(1), .micro_batch = 1};
};
static_assert(monomorph::admit<Case>());
