// expect-error: \[SHARD-05\] a sharding policy must have gathers_params where param_shards\(dp\) is above 1
// expect-text: GathersWhatItSplits<false, 2, 2>
#include "support/control.hpp"
struct Own : monomorph::sharding::ShardGradOp {
  static constexpr bool gathers_params = !NEGATIVE;
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
