// expect-error: \[RECIPE-07\] sharding must be a policy of sharding, and this is one of another axis; exchange them
// expect-error: \[RECIPE-07\] precision must be a policy of precision, and this is one of another axis; exchange them
// expect-error: \[RECIPE-07\] attention must be a policy of attention, and this is one of another axis; exchange them
// expect-text: AxisFits<monomorph::ShardingAxis, Case>
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  using sharding = monomorph::precision::Fp32;
  using precision = monomorph::sharding::FullShard;
  using attention = monomorph::objective::NextToken;
#endif
};
static_assert(monomorph::admit<Case>());
