// expect-error: \[SPEC-01\] monomorph::DecoderSpec must be given n_heads; write `\.n_heads = \.\.\.`
// expect-error: \[SPEC-01\] monomorph::DecoderSpec must be given context_length
// expect-error: \[SPEC-01\] monomorph::Expect must be given params
// expect-error: \[SPEC-01\] monomorph::Budget must be given micro_batch
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  static constexpr monomorph::DecoderSpec model{.vocab_size = 300, .n_layers = 6, .d_model = 64};
  static constexpr monomorph::Expect expect{};
  static constexpr monomorph::Budget budget{.ranks = 8, .bytes_per_rank = monomorph::gib(1)};
#endif
};
static_assert(monomorph::admit<Case>());
