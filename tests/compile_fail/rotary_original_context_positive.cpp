// expect-error: \[ATTN-08\] rotary\.scaling\.original_context must be at least 1 where factor is not 1
// expect-text: RotaryOriginalContextPositive<0, 2000000>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.scaling = {.factor = 2, .original_context = NEGATIVE ? 0 : 16};
  });
};
static_assert(monomorph::admit<Case>());
