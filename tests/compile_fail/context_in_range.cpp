// expect-error: \[MODEL-04\] context_length must lie in 1\.\.16777216; change context_length
// expect-text: ContextInRange<16777217>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model =
      changed([](monomorph::DecoderSpec& model) { model.context_length = NEGATIVE ? 16'777'217 : 16'777'216; });
};
static_assert(monomorph::admit<Case>());
