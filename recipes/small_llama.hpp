#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// A Llama of 13M parameters for a laptop: 6 layers of width 384, three query heads to a key head, all in fp32.
struct small_llama {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 8'192,
                                                .n_layers = 6,
                                                .n_heads = 6,
                                                .d_model = 384,
                                                .context_length = 256,
                                                .n_kv_heads = 2,
                                                .norm = {.kind = monomorph::NormKind::rms_norm, .bias = false},
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .bias = monomorph::no_biases,
                                                .initialization = {.scheme = monomorph::InitializationScheme::llama3}};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
  static constexpr monomorph::Expect expect{.params = 12'587'904};
};

}  // namespace recipes
