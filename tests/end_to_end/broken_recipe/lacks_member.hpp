// expect-error: \[RECIPE-05\] a recipe must have precision; write `using precision =
#pragma once
#include <monomorph/run.hpp>

namespace recipes {

struct lacks_member {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32};
  using sharding = monomorph::sharding::FullShard;
#if !NEGATIVE
  using precision = monomorph::precision::Fp32;
#endif
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace recipes
