#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// A recipe of somebody else, who has Monomorph installed and no copy of its sources.
struct external_tiny {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 256, .n_layers = 2, .n_heads = 2, .d_model = 64, .context_length = 32};
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace recipes
