// expect-error: \[ROTARY-07\] rotary\.yarn must have original_context >= 1, 0 < beta_slow < beta_fast and
// expect-text: YarnOrdered<16, 32000000, 32000000, 1000000>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.position = monomorph::Position::rotary;
    model.rotary.yarn = {.factor = 2, .original_context = 16, .beta_slow = NEGATIVE ? 32 : 2};
  });
};
static_assert(monomorph::admit<Case>());
