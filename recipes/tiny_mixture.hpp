#pragma once
#include <monomorph/run.hpp>

namespace recipes {

inline constexpr monomorph::MixtureSpec tiny_experts{
    .n_experts = 8, .top_k = 2, .d_expert = 48, .n_shared = 1, .balance_loss = 0.001, .bias_rate = 0.001};

/// A mixture of experts that trains in a blink, for tests: one dense layer of a width of its own, then two with eight
/// experts and one shared, balanced by biases and a little by a loss.
struct tiny_mixture {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 512,
                                                .n_layers = 3,
                                                .n_heads = 4,
                                                .d_model = 64,
                                                .context_length = 32,
                                                .n_kv_heads = 2,
                                                .d_ff = 96,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .bias = monomorph::no_biases};
  using layers = monomorph::Stack<monomorph::Run<monomorph::Shaped<monomorph::BlockShape{.d_ff = 160}>::Block, 1>,
                                  monomorph::Run<monomorph::Mixture<tiny_experts>::Block, 2>>;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::EveryNthBlock<2>;
  using optimizer = monomorph::optim::AdamW;
  static constexpr monomorph::Expect expect{.params = 267'728};
};

}  // namespace recipes
