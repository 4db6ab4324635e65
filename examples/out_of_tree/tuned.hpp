#pragma once
#include <monomorph/run.hpp>

#include "adapters_and_norms.hpp"
#include "deep_mlp.hpp"

namespace recipes {

/// A decoder of which the upper block has an MLP from outside of Monomorph, and is fine-tuned by a policy from there.
struct tuned {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 257, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 64, .tied_head = false};
  using layers = monomorph::Stack<
      monomorph::Run<monomorph::DecoderBlock, 1>,
      monomorph::Run<monomorph::Composed<monomorph::BlockOrder::pre_norm, stranger::DeepMlp<2>::Part>::Block, 1>>;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::RecomputeCheap;
  using optimizer = monomorph::optim::AdamW;
  using finetuning = stranger::AdaptersAndNorms<1>;
};

}  // namespace recipes
