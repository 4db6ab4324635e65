#pragma once
#include "tiny_llama.hpp"

namespace recipes {

/// tiny_llama in parts within pairs of ranks, for tests: bf16 compute.
struct tiny_llama_hybrid : tiny_llama {
  using sharding = monomorph::sharding::HybridShard<2>;
  using precision = monomorph::precision::Bf16Mixed;
};

}  // namespace recipes
