// expect-error: a recipe must have model, sharding, precision, checkpointing and optimizer
// expect-text(gcc): required type 'typename R::precision' is invalid
// expect-text(clang): no type named 'precision' in 'recipes::lacks_member'
#pragma once
#include <monomorph/run.hpp>

namespace recipes {

struct lacks_member {
  static constexpr monomorph::ModelSpec model{
      .vocab_size = 300, .n_layers = 6, .n_heads = 4, .d_model = 64, .context_length = 32};
  using sharding = monomorph::sharding::FullShard;
#if !NEGATIVE
  using precision = monomorph::precision::Fp32;
#endif
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace recipes
