// expect-error: \[ATTN-04\] head_dim \(d_model / n_heads unless given\) must lie in 1\.\.256
// expect-text: HeadDimInRange<257>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.head_dim = NEGATIVE ? 257 : 256; });
};
static_assert(monomorph::admit<Case>());
