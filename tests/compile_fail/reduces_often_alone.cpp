// expect-error: \[SHARD-10\] ReduceOncePerStep<Strategy> must have a strategy that reduces every micro-batch
// expect-error: \[SHARD-01\] HybridShard<n>
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  using sharding = monomorph::sharding::ReduceOncePerStep<monomorph::sharding::Replicate>;
#else
  using sharding = monomorph::sharding::ReduceOncePerStep<monomorph::sharding::ShardGradOp>;
#endif
};
struct Hybrid : Control {  // the strategy's own rules are judged, too
  using sharding = monomorph::sharding::ReduceOncePerStep<monomorph::sharding::HybridShard<NEGATIVE ? 0 : 2>>;
};
static_assert(monomorph::admit<Hybrid>());
struct Last : Case {};
static_assert(monomorph::admit<Case>());
