#pragma once
#include <monomorph/run.hpp>

namespace recipes {

/// Llama 3.2 1B, fully sharded, bf16 compute over fp32 master weights, for 8 GPUs of 80 GB.
struct llama3_1b_fsdp_bf16 {
  static constexpr auto model = monomorph::models::llama3_1b;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::EveryBlock;
  using optimizer = monomorph::optim::AdamW;
  static constexpr monomorph::Expect expect{.params = 1'235'814'400};
  static constexpr monomorph::Budget budget{.ranks = 8, .bytes_per_rank = monomorph::gib(80), .micro_batch = 4};
};

}  // namespace recipes
