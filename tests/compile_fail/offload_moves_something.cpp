// expect-error: \[ACT-05\] a checkpointing policy that offloads must move some block's activations
#include "support/control.hpp"
struct Case : Control {
  using checkpointing = monomorph::checkpointing::Offload<>;
  using finetuning = monomorph::finetuning::FreezeFirst<NEGATIVE ? 4 : 3>;  // of six layers
};
static_assert(monomorph::admit<Case>());
