// expect-error: \[MODEL-01\]
// expect-error: \[MODEL-02\]
// expect-error: \[MODEL-03\]
// expect-error: \[MODEL-04\]
// expect-error: \[MODEL-05\]
// expect-error: \[MODEL-08\]
// expect-error: \[ATTN-01\]
// expect-error: \[ATTN-04\]
// expect-error: \[PLAN-05\]
#include "support/control.hpp"
constexpr std::int64_t huge = 0x7fff'ffff'ffff'ffff;  // nothing overflows on the way to the messages
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    if (!NEGATIVE) return;
    model.vocab_size = model.n_layers = model.n_heads = model.d_model = model.context_length = huge;
    model.n_kv_heads = model.head_dim = model.d_ff = huge;
    model.vocab_multiple = huge;
  });
  static constexpr monomorph::Budget budget{.ranks = 8,
                                            .bytes_per_rank = monomorph::gib(1),
                                            .micro_batch = NEGATIVE ? huge : 1};
};
static_assert(monomorph::admit<Case>());
