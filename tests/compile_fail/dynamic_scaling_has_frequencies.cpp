// expect-error: \[ROTARY-09\] head_dim must be at least 4 with rotary\.dynamic
// expect-text: DynamicScalingHasFrequencies<2>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.dynamic = {.original_context = 16, .factor = 2};
    model.head_dim = NEGATIVE ? 2 : 4;
  });
};
static_assert(monomorph::admit<Case>());
