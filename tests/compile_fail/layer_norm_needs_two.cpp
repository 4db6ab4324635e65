// expect-error: \[MODEL-16\] d_model must be at least 2 where norm\.kind is layer_norm
// expect-text: LayerNormNeedsTwo<[^>]*layer_norm, 1>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.d_model = model.n_heads = 1;
    model.norm.kind = NEGATIVE ? monomorph::NormKind::layer_norm : monomorph::NormKind::rms_norm;
  });
};
static_assert(monomorph::admit<Case>());
