#pragma once
#include <monomorph/run.hpp>

#include "margin_pairs.hpp"
#include "pairs.hpp"
#include "rms_prop.hpp"

namespace recipes {

/// A small encoder with an objective, an optimizer and a sharding strategy from outside of Monomorph.
struct matched {
  static constexpr monomorph::EncoderSpec model{
      .vocab_size = 257, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 64};
  using sharding = stranger::Pairs;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = stranger::RmsProp;
  using objective = stranger::MarginPairs;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
};

}  // namespace recipes
