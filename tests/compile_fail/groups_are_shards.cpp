// expect-error: \[SHARD-14\] optimizer_shards\(dp\) of a sharding policy that has a group must be the smaller one
// expect-text: GroupsAreShards<2, 3, 3>
#include "support/control.hpp"
struct Own : monomorph::sharding::HybridShard<2> {
  static constexpr int optimizer_shards(int dp) { return NEGATIVE || dp < 2 ? dp : 2; }
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
