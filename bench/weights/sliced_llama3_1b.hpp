#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// Llama 3.2 1B, so divided and rounded that four ranks of it fit a small machine.
struct sliced_llama3_1b {
  static constexpr monomorph::DecoderSpec model = [] {
    monomorph::DecoderSpec model = monomorph::models::llama3_1b;
    model.context_length = 32;
    return model;
  }();
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16Pure;
  using checkpointing = monomorph::checkpointing::EveryBlock;
  using optimizer = monomorph::optim::Sgd;
  static constexpr monomorph::Expect expect{.params = 1'235'814'400};
};

}  // namespace recipes
