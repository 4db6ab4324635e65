// expect-error: \[MODEL-14\] d_ff_multiple must be at most 8/3 d_model, or 256
// expect-text: FeedForwardRoundedUpLittle<512, 128>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.d_model = 128;
    model.activation = monomorph::Activation::swiglu;
    model.d_ff_multiple = NEGATIVE ? 512 : 341;
  });
};
static_assert(monomorph::admit<Case>());
