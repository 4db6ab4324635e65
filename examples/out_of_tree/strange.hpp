#pragma once
#include <monomorph/run.hpp>

#include "focal_loss.hpp"
#include "pairs.hpp"
#include "rms_prop.hpp"
#include "short_sight.hpp"
#include "squared_mlp.hpp"
#include "trapezoid.hpp"

namespace recipes {

/// A small decoder with an optimizer, an objective, a mask, a schedule, a sharding strategy and a block from outside of
/// Monomorph.
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = stranger::RmsProp;
  using objective = stranger::FocalLoss;
  using attention = stranger::ShortSight<15>;
  using schedule = stranger::Trapezoid;
};

}  // namespace recipes
