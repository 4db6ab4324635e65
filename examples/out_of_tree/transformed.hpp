#pragma once
#include <monomorph/run.hpp>

#include "rms_prop.hpp"
#include "transformed_decoder.hpp"

namespace recipes {

/// A small model of a kind from outside of Monomorph, sharded and recomputed as any other.
struct transformed {
  static constexpr stranger::TransformedDecoder model{
      .decoder = {.vocab_size = 257, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 64}};
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::EveryBlock;
  using optimizer = stranger::RmsProp;
};

}  // namespace recipes
