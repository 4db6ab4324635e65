#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// GPT-2 124M, fully sharded, bf16 compute over fp32 master weights.
struct gpt2_fsdp_bf16 {
  static constexpr auto model = monomorph::models::gpt2_124m;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::EveryNthBlock<2>;
  using optimizer = monomorph::optim::AdamW;
  static constexpr monomorph::Expect expect{.params = 124'439'808};
  static constexpr monomorph::Budget budget{.ranks = 8, .bytes_per_rank = monomorph::gib(80), .micro_batch = 16};
};

}  // namespace recipes
