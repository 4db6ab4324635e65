// expect-error: \[ATTN-14\] no token may attend to tokens behind it where the objective is to predict the next one
// expect-text: NextTokenIsHidden<monomorph::attention::Bidirectional, 1099511627776, true>
#include "support/control.hpp"
#if NEGATIVE
using Attention = monomorph::attention::Bidirectional;
#else
using Attention = monomorph::attention::Causal;
#endif
struct Case : Control {
  using attention = Attention;
};
static_assert(monomorph::admit<Case>());
