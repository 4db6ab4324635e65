#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// A Llama-style model small enough to learn Shakespeare on two CPU cores in three minutes.
struct quickstart {
  static constexpr monomorph::ModelSpec model{
      .vocab_size = 1024,
      .n_layers = 4,
      .n_heads = 4,
      .d_model = 192,
      .context_length = 128,
      .d_ff_multiple = 64,
      .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
      .activation = monomorph::Activation::swiglu,
      .position = monomorph::Position::rotary,
      .bias = monomorph::no_biases};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace recipes
