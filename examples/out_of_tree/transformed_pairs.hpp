#pragma once
#include <monomorph/run.hpp>

#include "margin_pairs.hpp"
#include "rms_prop.hpp"
#include "transformed_encoder.hpp"

namespace recipes {

/// A small model of a kind from outside of Monomorph that makes embeddings.
struct transformed_pairs {
  static constexpr stranger::TransformedEncoder model{
      .trunk = {.vocab_size = 257, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 64}, .features = 32};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::EveryBlock;
  using optimizer = stranger::RmsProp;
  using objective = stranger::MarginPairs;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
};

}  // namespace recipes
