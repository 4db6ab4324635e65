// expect-error: \[ROTARY-02\] context_length must be at most factor x original_context of rotary\.scaling, or of
// expect-text: ContextWithinScaling<32, 15, 2000000>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.yarn = {.factor = 2, .original_context = NEGATIVE ? 15 : 16};
  });
};
static_assert(monomorph::admit<Case>());
