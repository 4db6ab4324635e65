// expect-error: \[SHARD-13\] where the parameters of compute lie on the host the optimizer's state must, too
#include "support/control.hpp"
struct Case : Control {
  using sharding = monomorph::sharding::HostParameters<monomorph::sharding::FullShard>;
#if !NEGATIVE
  using optimizer = monomorph::optim::HostState<monomorph::optim::AdamW>;
#endif
};
static_assert(monomorph::admit<Case>());
