// expect-error: \[MODEL-12\] n_layers x d_model x \(4 n_heads head_dim \+ 3 d_ff\), about the parameters, must be
// expect-text: ParametersCountable<256, 8388608, 65536, 128, 33554432>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.n_layers = NEGATIVE ? 256 : 1;
    model.d_model = NEGATIVE ? 8'388'608 : 16'384;
    model.n_heads = NEGATIVE ? 65'536 : 128;
    model.initialization.std = monomorph::automatic;
  });
};
static_assert(monomorph::admit<Case>());
