// expect-error: \[ACT-05\] Offload<Policy> must keep something of three blocks at least
// expect-text: OffloadMovesSomething<0>
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  using checkpointing = monomorph::checkpointing::Offload<monomorph::checkpointing::EveryBlock>;
#else
  using checkpointing = monomorph::checkpointing::Offload<monomorph::checkpointing::RecomputeCheap>;
#endif
};
static_assert(monomorph::admit<Case>());
