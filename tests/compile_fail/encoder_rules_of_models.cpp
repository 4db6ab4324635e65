// expect-error: \[ATTN-02\] d_model must be a multiple of n_heads
#include "support/encoder.hpp"
struct Case : EncoderControl {
  static constexpr monomorph::EncoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = NEGATIVE ? 5 : 4, .d_model = 64, .context_length = 32};
};
static_assert(monomorph::admit<Case>());
