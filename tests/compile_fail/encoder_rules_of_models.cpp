// The rules of every model hold for encoders, and name a field that an encoder has.
// expect-error: \[MODEL-05\] d_ff must lie in 1..16777216 where it is given; change d_ff, or leave it out
// expect-error: \[MODEL-13\] vocab_multiple must be at most vocab_size, or 512: [a-z ]*; change vocab_multiple \(
// expect-error: \[ATTN-02\] d_model must be a multiple of n_heads [^;]*; change n_heads, or give head_dim \(
// expect-error: \[ATTN-09\] [^;]*; change position or rotary \(
#include "support/encoder.hpp"
struct Case : EncoderControl {
#if NEGATIVE
  static constexpr monomorph::EncoderSpec model{.vocab_size = 300,
                                                .n_layers = 6,
                                                .n_heads = 5,
                                                .d_model = 64,
                                                .context_length = 32,
                                                .d_ff = 0,
                                                .vocab_multiple = 1024,
                                                .rotary = {.base = 5e5}};
#endif
};
static_assert(monomorph::admit<Case>());
