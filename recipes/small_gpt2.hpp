#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// A GPT-2 of 30M parameters for a laptop: 6 layers of width 384 over GPT-2's own vocabulary, all in fp32.
struct small_gpt2 {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 50'257, .n_layers = 6, .n_heads = 6, .d_model = 384, .context_length = 256, .vocab_multiple = 64};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
  static constexpr monomorph::Expect expect{.params = 30'044'544};
};

}  // namespace recipes
