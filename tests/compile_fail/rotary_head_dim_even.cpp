// expect-error: \[ATTN-05\] head_dim must be even where position is rotary
// expect-text: RotaryHeadDimEven<[^>]*rotary, 15>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.head_dim = NEGATIVE ? 15 : 14;
  });
};
static_assert(monomorph::admit<Case>());
