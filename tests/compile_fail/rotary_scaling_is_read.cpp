// expect-error: \[ROTARY-01\] rotary\.scaling must have no other field where factor is 1
// expect-text: RotaryScalingIsRead<1000000, false>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.scaling = {.factor = NEGATIVE ? 1 : 2, .original_context = 64};
  });
};
static_assert(monomorph::admit<Case>());
