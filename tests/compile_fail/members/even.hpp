#pragma once
#include "odd.hpp"

namespace recipes {

/// Nothing of it is refused: its file may declare what it likes beside it.
using Sharding = monomorph::sharding::FullShard;
inline constexpr int helper = 3;
struct even_base {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 300, .n_layers = helper, .n_heads = 4, .d_model = 64, .context_length = 32};
  using sharding = Sharding;
};
struct even : even_base {
  static constexpr monomorph::MeshSpec mesh{.tp = 1};
  static constexpr monomorph::Expect expect{.params = 1};
  static constexpr monomorph::Budget budget{.ranks = 1, .bytes_per_rank = 1, .micro_batch = 1};
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, helper>>;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
  using objective = monomorph::objective::NextToken;
  using attention = monomorph::attention::Causal;
  using schedule = monomorph::schedule::WarmupDecay;
};

}  // namespace recipes
