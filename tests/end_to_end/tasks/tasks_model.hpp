#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// The model of the fixtures of benchmarks (tests/fixtures/tasks).
struct tasks_model {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 1024,
                                                .n_layers = 4,
                                                .n_heads = 2,
                                                .d_model = 96,
                                                .context_length = 256,
                                                .d_ff_multiple = 64,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .qk_norm = true,
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .bias = monomorph::no_biases};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace recipes
