// expect-error: \[MODEL-17\] d_ff must be at most 64 d_model
// expect-text: FeedForwardInProportion<4097, 64, true>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.d_ff = NEGATIVE ? 4097 : 4096; });
};
static_assert(monomorph::admit<Case>());
