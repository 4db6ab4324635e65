// expect-error: \[MODEL-07\] d_ff_multiple must stay 256 unless d_ff is derived for a gated activation
// expect-text: FeedForwardMultipleIsRead<64, [^>]*gelu_tanh, false>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    if (!NEGATIVE) model.activation = monomorph::Activation::swiglu;
    model.d_ff_multiple = 64;
  });
};
static_assert(monomorph::admit<Case>());
