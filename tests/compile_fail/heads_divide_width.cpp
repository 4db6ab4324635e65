// expect-error: \[ATTN-02\] d_model must be a multiple of n_heads where head_dim is derived
// expect-text: HeadsDivideWidth<64, 7, false>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.n_heads = 7;
    if (!NEGATIVE) model.head_dim = 9;
  });
};
static_assert(monomorph::admit<Case>());
