#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// An encoder that learns which lines of Shakespeare follow others, on two CPU cores within a minute or two.
struct sentence_encoder {
  static constexpr monomorph::EncoderSpec model{.vocab_size = 2048,
                                                .n_layers = 1,
                                                .n_heads = 2,
                                                .d_model = 128,
                                                .context_length = 64,
                                                .d_embedding = 128,
                                                .d_ff = 256,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .bias = monomorph::no_biases,
                                                .initialization = {
                                                    .scheme = monomorph::InitializationScheme::scaled_embedding}};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
  using objective = monomorph::objective::ContrastivePairs;
};

}  // namespace recipes
