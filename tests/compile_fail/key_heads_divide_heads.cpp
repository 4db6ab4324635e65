// expect-error: \[ATTN-03\] n_heads must be a multiple of n_kv_heads
// expect-text: KeyHeadsDivideHeads<4, 3>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.n_kv_heads = NEGATIVE ? 3 : 2; });
};
static_assert(monomorph::admit<Case>());
