// expect-error: \[ROTARY-05\] rotary must have at most one of scaling, linear, dynamic and yarn
// expect-text: OneRotaryScaling<false, true, true, false>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.linear.factor = 2;
    if (NEGATIVE) model.rotary.dynamic = {.original_context = 16, .factor = 2};
  });
};
static_assert(monomorph::admit<Case>());
