// expect-error: \[MODEL-15\] initialization\.std x sqrt\(d_model\) must be at most 8
// expect-text: InitializationKeepsScale<1100000, 64>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model =
      changed([](monomorph::DecoderSpec& model) { model.initialization.std = NEGATIVE ? 1.1 : 1.0; });
};
static_assert(monomorph::admit<Case>());
