// expect-error: \[SHARD-08\] optimizer_shards\(dp\) must divide the data-parallel ranks
// expect-text: ShardsDivideRanks<6, 4>
#include "support/control.hpp"
struct Own : monomorph::sharding::FullShard {
  static constexpr int optimizer_shards(int dp) { return dp > 4 ? 4 : dp; }
};
struct Case : Control {
  using sharding = Own;
  static constexpr monomorph::Budget budget{.ranks = NEGATIVE ? 6 : 8,
                                            .bytes_per_rank = monomorph::gib(1),
                                            .micro_batch = 1};
};
static_assert(monomorph::admit<Case>());
