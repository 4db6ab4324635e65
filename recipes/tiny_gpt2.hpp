#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// A GPT-2 that trains in a blink, for tests: dropout, every second block recomputed.
struct tiny_gpt2 {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 257,
                                                .n_layers = 2,
                                                .n_heads = 4,
                                                .d_model = 32,
                                                .context_length = 32,
                                                .vocab_multiple = 64,
                                                .dropout = {.embedding = 0.1, .residual = 0.1}};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::EveryNthBlock<2>;
  using optimizer = monomorph::optim::AdamW;
  static constexpr monomorph::Expect expect{.params = 34'720};
};

}  // namespace recipes
