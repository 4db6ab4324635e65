#pragma once
#include "tiny_gpt2_fsdp.hpp"

namespace recipes {

/// tiny_gpt2_fsdp in fp16, for tests: a dynamic loss scale, and gradients that the fixed tree can add up.
struct tiny_gpt2_fp16 : tiny_gpt2_fsdp {
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp16Mixed;
};

}  // namespace recipes
