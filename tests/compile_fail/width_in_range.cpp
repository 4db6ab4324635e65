// expect-error: \[MODEL-03\] d_model must lie in 1\.\.16777216; change d_model
// expect-text: WidthInRange<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.d_model = NEGATIVE ? 0 : 64; });
};
static_assert(monomorph::admit<Case>());
