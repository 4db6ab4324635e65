// expect-error: \[ROTARY-08\] rotary\.dynamic\.original_context must be at least 1
// expect-text: DynamicContextPositive<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.dynamic = {.original_context = NEGATIVE ? 0 : 16, .factor = 2};
  });
};
static_assert(monomorph::admit<Case>());
