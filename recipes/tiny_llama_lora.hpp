#pragma once
#include "tiny_llama.hpp"

namespace recipes {

/// Low-rank adapters beside all matrices of tiny_llama's blocks, for tests: parts of all parameters on each rank.
struct tiny_llama_lora : tiny_llama {
  using sharding = monomorph::sharding::FullShard;
  using finetuning = monomorph::finetuning::LowRank<
      monomorph::LowRankSpec{.rank = 4,
                             .alpha = 8,
                             .dropout = 0.05,
                             .targets = {.key = true, .output = true, .gate = true, .up = true, .down = true}}>;
  static constexpr monomorph::Expect expect{.params = 173'888};
};

}  // namespace recipes
