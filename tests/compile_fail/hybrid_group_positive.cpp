// expect-error: \[SHARD-01\] HybridShard<n> and HybridShardGradOp<n> must have groups of n >= 1 ranks; change n
// expect-text: HybridGroupPositive<0>
#include "support/control.hpp"
struct Case : Control {
  using sharding = monomorph::sharding::HybridShard<NEGATIVE ? 0 : 1>;
};
static_assert(monomorph::admit<Case>());
