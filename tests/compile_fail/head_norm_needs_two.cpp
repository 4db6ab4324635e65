// expect-error: \[HEADS-01\] head_dim must be at least 2 where qk_norm is set and norm\.kind is layer_norm
// expect-text: HeadNormNeedsTwo<true, [^>]*layer_norm, 1>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.n_heads = 64;
    model.qk_norm = NEGATIVE == 1;
  });
};
static_assert(monomorph::admit<Case>());
