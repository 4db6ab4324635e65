// expect-error: \[SHARD-12\] HostParameters<Strategy> must have Replicate, or a strategy that splits the parameters
// expect-error: \[SHARD-01\] HybridShard<n>
#include "support/control.hpp"
template <class Strategy> struct Case : Control {
  using sharding = monomorph::sharding::HostParameters<Strategy>;
  using optimizer = monomorph::optim::HostState<monomorph::optim::AdamW>;
};
#if NEGATIVE
static_assert(monomorph::admit<Case<monomorph::sharding::ShardGradOp>>());
#else
static_assert(monomorph::admit<Case<monomorph::sharding::Replicate>>());
#endif
static_assert(monomorph::admit<Case<monomorph::sharding::HybridShard<NEGATIVE ? 0 : 2>>>());  // its rules hold, too
