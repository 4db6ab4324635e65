// expect-error: \[MODEL-06\] d_ff_multiple must lie in 1\.\.16777216; change d_ff_multiple
// expect-text: FeedForwardMultipleInRange<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.activation = monomorph::Activation::swiglu;
    model.d_ff_multiple = NEGATIVE ? 0 : 1;
  });
};
static_assert(monomorph::admit<Case>());
