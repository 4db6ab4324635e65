// expect-error: \[ATTN-02\] d_model must be a multiple of n_heads
// expect-error: \[MODEL-09\] norm.epsilon
#pragma once
#include <monomorph/run.hpp>

namespace recipes {

struct breaks_rules {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 300,
                                                .n_layers = 6,
                                                .n_heads = NEGATIVE ? 5 : 4,
                                                .d_model = 64,
                                                .context_length = 32,
                                                .norm = {.epsilon = NEGATIVE ? 0 : 1e-5}};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace recipes
