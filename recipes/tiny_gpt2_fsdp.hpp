#pragma once
#include "tiny_gpt2.hpp"

namespace recipes {

/// tiny_gpt2 in parts, for tests: ZeRO-3, gradients reduced once per step, every block recomputed.
struct tiny_gpt2_fsdp : tiny_gpt2 {
  using sharding = monomorph::sharding::ReduceOncePerStep<monomorph::sharding::FullShard>;
  using checkpointing = monomorph::checkpointing::EveryBlock;
};

}  // namespace recipes
