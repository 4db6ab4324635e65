// A window of no token has no room for the query itself.
// expect-error: \[ATTN-16\] a token must attend to itself: mask\.before and mask\.after must lie in 0\.\.unlimited
// expect-text: TokenSeesItself<monomorph::attention::SlidingWindow<0>, -1, 0>
#include "support/control.hpp"
struct Case : Control {
  using attention = monomorph::attention::SlidingWindow<1 - NEGATIVE>;
};
static_assert(monomorph::admit<Case>());
