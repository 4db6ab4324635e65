// expect-error: \[ROTARY-06\] rotary\.dynamic must have no factor without original_context, and rotary\.yarn no other
// expect-text: RotaryContextIsExtended<true, false>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.yarn = {.factor = NEGATIVE ? 1 : 2, .original_context = 16, .truncate = false};
  });
};
static_assert(monomorph::admit<Case>());
