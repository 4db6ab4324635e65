// expect-error: \[MODEL-18\] multiplier.embedding and multiplier.attention must be above 0 and finite
// expect-text: MultipliersPositive<1000000, 0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model =
      changed([](monomorph::DecoderSpec& model) { model.multiplier.attention = NEGATIVE ? 0 : 0.25; });
};
static_assert(monomorph::admit<Case>());
