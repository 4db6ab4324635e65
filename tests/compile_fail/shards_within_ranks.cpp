// expect-error: \[SHARD-07\] optimizer_shards\(dp\) must lie in 1\.\.dp
// expect-text: ShardsWithinRanks<1, 4>
#include "support/control.hpp"
struct Own : monomorph::sharding::FullShard {
  static constexpr int param_shards(int dp) { return NEGATIVE || dp > 4 ? 4 : dp; }
  static constexpr int gradient_shards(int dp) { return param_shards(dp); }
  static constexpr int optimizer_shards(int dp) { return param_shards(dp); }
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
