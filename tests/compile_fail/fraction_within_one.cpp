// expect-error: \[ACT-02\] Fraction<num, den> must lie in \(0, 1\]; change num or den
// expect-text: FractionWithinOne<3, 2>
#include "support/control.hpp"
struct Case : Control {
  using checkpointing = monomorph::checkpointing::Fraction<3, NEGATIVE ? 2 : 3>;
};
static_assert(monomorph::admit<Case>());
