#pragma once
#include <monomorph/run.hpp>

#include "every_second_token.hpp"
#include "focal_loss.hpp"
#include "pairs.hpp"
#include "rms_prop.hpp"
#include "short_sight.hpp"
#include "squared_mlp.hpp"
#include "trapezoid.hpp"

namespace recipes {

/// A small decoder with an optimizer, an objective, a mask, a schedule, a sharding strategy and a block from outside of
/// Monomorph.
struct strange {
  static constexpr monomorph::DecoderSpec model{
      .vocab_size = 257, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 64};
  using layers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 1>, monomorph::Run<stranger::SquaredMlp, 1>>;
  using sharding = stranger::Pairs;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = stranger::RmsProp;
  using objective = stranger::EverySecondToken<stranger::FocalLoss>;
  using attention = stranger::ShortSight<15>;
  using schedule = stranger::Trapezoid;
};

}  // namespace recipes
