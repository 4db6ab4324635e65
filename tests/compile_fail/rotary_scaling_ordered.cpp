// expect-error: \[ATTN-07\] rotary\.scaling must have factor >= 1 and 0 < low_frequency_factor <
// expect-text: RotaryScalingOrdered<8000000, 4000000, 4000000>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.scaling = {.factor = 8, .low_frequency_factor = NEGATIVE ? 4 : 1};
  });
};
static_assert(monomorph::admit<Case>());
