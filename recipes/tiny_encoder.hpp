#pragma once
#include "tiny_llama.hpp"

namespace recipes {

/// A tiny encoder of texts, for tests: its blocks are those of tiny_llama.
struct tiny_encoder : tiny_llama {
  static constexpr monomorph::EncoderSpec model{.vocab_size = 512,
                                                .n_layers = 2,
                                                .n_heads = 4,
                                                .d_model = 64,
                                                .context_length = 32,
                                                .d_embedding = 32,
                                                .n_kv_heads = 2,
                                                .d_ff_multiple = 32,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .bias = monomorph::no_biases};
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
  using objective = monomorph::objective::ContrastivePairs;
  static constexpr monomorph::Expect expect{.params = 133'440};
};

}  // namespace recipes
