#pragma once
#include "train/scaling/collective_time.hpp"

#include <monomorph/plan/planned_recipe.hpp>

namespace monomorph::train {

/// A run whose step is to be predicted.
struct PlannedRun {
  Cluster cluster;
  int ranks = 1;
  std::int64_t micro_batch = 1, micro_batches = 1;  ///< sequences of one, and how many a rank has in a step
  plan::Strategy strategy;
};

struct StepPrediction {
  double step_seconds = 0;
  double communication_seconds = 0;  ///< of all collectives
  double exposed_seconds = 0;        ///< in which kernels wait for collectives
  double update_seconds = 0;         ///< of the optimiser
  double tokens_per_second = 0;      ///< of one GPU
  double mfu = 0, mfu_palm = 0;      ///< by the two definitions of plan::FlopsPerToken
  plan::Memory memory;               ///< of a rank
  bool fits = false;                 ///< in the GPU's memory
};

/// Predicts a step that is neither the first nor followed by a save, as train/step schedules it.
StepPrediction predict(const plan::PlannedRecipe& recipe, const PlannedRun& run,
                       const Calibration& calibration = train::calibration());

}  // namespace monomorph::train
