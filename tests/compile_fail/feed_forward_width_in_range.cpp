// expect-error: \[MODEL-05\] d_ff must lie in 1\.\.16777216 where it is given; change d_ff
// expect-text: FeedForwardWidthInRange<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.d_ff = NEGATIVE ? 0 : 1; });
};
static_assert(monomorph::admit<Case>());
