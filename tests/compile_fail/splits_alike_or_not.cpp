// expect-error: \[SHARD-11\] param_shards\(dp\) and gradient_shards\(dp\) must each be 1 or optimizer_shards\(dp\)
// expect-text: SplitsAlikeOrNot<4, 4, 1, 2>
#include "support/control.hpp"
struct Own : monomorph::sharding::ShardOptimizer {
  static constexpr int param_shards(int dp) { return NEGATIVE ? dp : 1; }
  static constexpr int optimizer_shards(int dp) { return dp > 2 ? 2 : dp; }
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
