// The rules of every model hold for encoders, and its fields are given as others are.
// expect-error: \[SPEC-01\] monomorph::EncoderSpec must be given n_heads
// expect-error: \[SPEC-02\] monomorph::EncoderSpec::d_embedding must be given as what its type can hold
#include "support/encoder.hpp"
struct Case : EncoderControl {
#if NEGATIVE
  static constexpr monomorph::EncoderSpec model{
      .vocab_size = 300, .n_layers = 6, .d_model = 64, .context_length = 32, .d_embedding = 2.5};
#endif
};
static_assert(monomorph::admit<Case>());
