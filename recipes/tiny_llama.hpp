#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// A Llama that trains in a blink, for tests: a head of its own, ZeRO-2, cheap activations recomputed.
struct tiny_llama {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 512,
                                                .n_layers = 2,
                                                .n_heads = 4,
                                                .d_model = 64,
                                                .context_length = 32,
                                                .n_kv_heads = 2,
                                                .d_ff_multiple = 32,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .bias = monomorph::no_biases,
                                                .tied_head = false,
                                                .initialization = {.scheme = monomorph::InitializationScheme::llama3}};
  using sharding = monomorph::sharding::ShardGradOp;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::RecomputeCheap;
  using optimizer = monomorph::optim::AdamW;
  static constexpr monomorph::Expect expect{.params = 164'160};
};

}  // namespace recipes
