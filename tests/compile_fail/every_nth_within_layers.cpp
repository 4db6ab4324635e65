// expect-error: \[ACT-01\] EveryNthBlock<n> must have 1 <= n <= n_layers; change n
// expect-text: EveryNthWithinLayers<7, 6>
#include "support/control.hpp"
struct Case : Control {
  using checkpointing = monomorph::checkpointing::EveryNthBlock<NEGATIVE ? 7 : 6>;
};
static_assert(monomorph::admit<Case>());
