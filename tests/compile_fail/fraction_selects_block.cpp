// expect-error: \[ACT-03\] Fraction<num, den> of n_layers must round to at least one block
// expect-text: FractionSelectsBlock<1, 13, 6>
#include "support/control.hpp"
struct Case : Control {
  using checkpointing = monomorph::checkpointing::Fraction<1, NEGATIVE ? 13 : 12>;
};
static_assert(monomorph::admit<Case>());
