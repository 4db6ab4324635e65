// expect-error: \[SHARD-07\] optimizer_shards\(dp\) must lie in 1\.\.dp
// expect-text: ShardsWithinRanks<3, 4>
#include "support/control.hpp"
struct Own : monomorph::sharding::FullShard {
  static constexpr int optimizer_shards(int dp) { return dp > 4 || (NEGATIVE && dp == 3) ? 4 : dp; }
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
