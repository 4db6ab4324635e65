// expect-error: \[FREEZE-02\] FreezeFirst<n> must have 0 <= n <= n_layers
// expect-text: FreezesWithinLayers<-1,
#include "support/control.hpp"
struct Case : Control {
  using finetuning = monomorph::finetuning::FreezeFirst<NEGATIVE ? -1 : 1>;
};
static_assert(monomorph::admit<Case>());
