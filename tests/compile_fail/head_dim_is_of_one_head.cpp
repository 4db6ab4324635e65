// expect-error: \[HEADS-02\] n_heads x head_dim must be at most 16 d_model
// expect-text: HeadDimIsOfOneHead<8, 256, 64>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.n_heads = 8;
    model.head_dim = NEGATIVE ? 256 : 128;
  });
};
static_assert(monomorph::admit<Case>());
