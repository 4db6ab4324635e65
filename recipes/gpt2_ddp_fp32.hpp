#pragma once
#include "gpt2_fsdp_bf16.hpp"

namespace recipes {

/// GPT-2 124M replicated on every rank, all in fp32; half the micro-batch for twice the bytes per activation.
struct gpt2_ddp_fp32 : gpt2_fsdp_bf16 {
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  static constexpr monomorph::Budget budget{.ranks = 8, .bytes_per_rank = monomorph::gib(80), .micro_batch = 8};
};

}  // namespace recipes
