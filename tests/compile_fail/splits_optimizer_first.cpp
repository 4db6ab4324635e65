// expect-error: \[SHARD-11\] a sharding policy must have optimizer_shards\(dp\) above 1 for some dp
// expect-text: SplitsOptimizerFirst<false, true, false>
#include "support/control.hpp"
struct Own : monomorph::sharding::Replicate {
  static constexpr bool splits_parameters = NEGATIVE;
};
struct Case : Control {
  using sharding = Own;
};
static_assert(monomorph::admit<Case>());
