// expect-error: \[MODEL-09\] norm\.epsilon must be above 0 and below 1; change NormSpec::epsilon
// expect-text: NormEpsilonPositive<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model =
      changed([](monomorph::DecoderSpec& model) { model.norm.epsilon = NEGATIVE ? 0 : 1e-12; });
};
static_assert(monomorph::admit<Case>());
