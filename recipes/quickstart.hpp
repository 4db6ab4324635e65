#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// A Llama-style model that learns Shakespeare on two CPU cores within a minute or two.
struct quickstart {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 1024,
                                                .n_layers = 4,
                                                .n_heads = 4,
                                                .d_model = 96,
                                                .context_length = 256,
                                                .d_ff_multiple = 64,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .qk_norm = true,
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .rotary = {.base = 1000},
                                                .bias = monomorph::no_biases};
  using attention = monomorph::attention::SlidingWindow<64>;
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::ByClass<monomorph::optim::Muon, monomorph::optim::AdamW>;
};

}  // namespace recipes
