#pragma once
#include "tiny_preferences.hpp"

namespace recipes {

/// The same, by adapters beside all matrices of the blocks: parts of all parameters on each rank.
struct tiny_preferences_lora : tiny_preferences {
  using sharding = monomorph::sharding::FullShard;
  using finetuning = monomorph::finetuning::LowRank<monomorph::LowRankSpec{
      .rank = 4, .alpha = 8, .targets = {.key = true, .output = true, .gate = true, .up = true, .down = true}}>;
  static constexpr monomorph::Expect expect{.params = 173'888};
};

}  // namespace recipes
