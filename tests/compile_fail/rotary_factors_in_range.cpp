// expect-error: \[ROTARY-04\] rotary\.linear, rotary\.dynamic and rotary\.yarn must have a factor of at least 1
// expect-text: RotaryFactorsInRange<500000, 1000000, 1000000>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.linear.factor = NEGATIVE ? 0.5 : 2;
  });
};
static_assert(monomorph::admit<Case>());
