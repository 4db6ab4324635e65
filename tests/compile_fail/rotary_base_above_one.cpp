// expect-error: \[ATTN-06\] rotary\.base must be above 1 and finite; change RotarySpec::base
// expect-text: RotaryBaseAboveOne<[^>]*rotary, 0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.base = NEGATIVE ? 0 : 5.5;
  });
};
static_assert(monomorph::admit<Case>());
