// expect-error: \[SPEC-02\] monomorph::DecoderSpec::vocab_size must be given as what its type can hold
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::n_layers must be given
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::n_heads must be given
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::d_model must be given
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::head_dim must be given
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::context_length must be given
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::n_kv_heads must be given
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::vocab_multiple must be given
// expect-error: \[SPEC-02\] monomorph::NormSpec::epsilon must be given
// expect-error: \[SPEC-02\] monomorph::NormSpec::bias must be given
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::qk_norm must be given
// expect-error: \[SPEC-02\] monomorph::DecoderSpec::position must be given
// expect-error: \[SPEC-02\] monomorph::Llama3RotaryScaling::original_context must be given
// expect-error: \[SPEC-02\] monomorph::RotarySpec::base must be given
// expect-error: \[SPEC-02\] monomorph::InitializationSpec::std must be given
// expect-error: \[SPEC-02\] monomorph::MeshSpec::tp must be given
// expect-error: \[SPEC-02\] monomorph::Budget::ranks must be given
// expect-error: \[SPEC-02\] monomorph::Budget::bytes_per_rank must be given
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  static constexpr monomorph::DecoderSpec model{.vocab_size = 300.5,
                                                .n_layers = true,
                                                .n_heads = {4, 8},
                                                .d_model = "64",
                                                .context_length = ~0ull,
                                                .n_kv_heads = 2.0,
                                                .head_dim = {16, 32},
                                                .vocab_multiple = '@',
                                                .norm = {.epsilon = false, .bias = 1},
                                                .qk_norm = 0.5,
                                                .position = 1,
                                                .rotary = {.base = {}, .scaling = {.original_context = 8192.5}},
                                                .initialization = {.std = (1ll << 60) + 1}};
  static constexpr monomorph::MeshSpec mesh{.tp = 1ll << 32};
  static constexpr monomorph::Budget budget{.ranks = 8ull << 31, .bytes_per_rank = 80e9, .micro_batch = 4u};
#endif
};
static_assert(monomorph::admit<Case>());
