// expect-error: \[SHARD-06\] gradient_shards\(dp\) and optimizer_shards\(dp\) must be param_shards\(dp\)
// expect-text: SplitsAllAlike<2, 1, 1, 2>
#include "support/control.hpp"
struct Own : monomorph::sharding::Replicate {
  static constexpr int optimizer_shards(int dp) { return NEGATIVE ? dp : 1; }  // ZeRO-1
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
