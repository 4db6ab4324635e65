#pragma once
#include <monomorph/run.hpp>

/// A recipe that is small enough to plan by hand: L 2, N 2, D 64, T 8, V 10 padded to 16, F 256.
struct ByHand {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 10, .n_layers = 2, .n_heads = 2, .d_model = 64, .context_length = 8, .vocab_multiple = 16};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

template <class Policy> struct CheckpointedBy : ByHand { using checkpointing = Policy; };

struct Bf16 : ByHand {
  using precision = monomorph::precision::Bf16Mixed;
};

/// The recipe of a named model, of which the other members do not matter.
template <const monomorph::DecoderSpec& spec> struct Of : ByHand {
  static constexpr monomorph::DecoderSpec model = spec;
};

/// Every option that adds parameters or slices, and sizes that are no multiples of 64.
struct EveryOption : ByHand {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 37,
                                                .n_layers = 5,
                                                .n_heads = 6,
                                                .d_model = 30,
                                                .context_length = 7,
                                                .n_kv_heads = 2,
                                                .head_dim = 10,
                                                .d_ff = 50,
                                                .vocab_multiple = 3,
                                                .qk_norm = true,
                                                .activation = monomorph::Activation::swiglu,
                                                .tied_head = false,
                                                .dropout = {.residual = 0.1}};
};
