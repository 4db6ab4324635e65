// expect-error: \[ATTN-01\] n_heads must lie in 1\.\.16777216; change n_heads
// expect-text: HeadsInRange<0>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.n_heads = NEGATIVE ? 0 : 4; });
};
static_assert(monomorph::admit<Case>());
