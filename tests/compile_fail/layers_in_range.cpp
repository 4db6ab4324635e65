// expect-error: \[MODEL-01\] n_layers must lie in 1\.\.256; change n_layers
// expect-text: LayersInRange<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.n_layers = NEGATIVE ? 0 : 1; });
  static constexpr monomorph::Expect expect{.params =
                                                NEGATIVE ? 1 : 71'360};  // no second error: it waits for the values
};
static_assert(monomorph::admit<Case>());
