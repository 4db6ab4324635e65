// expect-error: \[ATTN-09\] rotary must be left out unless position is rotary
// expect-text: RotaryIsRead<[^>]*learned, false>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    if (!NEGATIVE) model.position = monomorph::Position::rotary;
    model.rotary.base = 500'000;
  });
};
static_assert(monomorph::admit<Case>());
