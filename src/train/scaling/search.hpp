#pragma once
#include "train/scaling/step_prediction.hpp"
#include "train/scaling/strategies.hpp"

#include <vector>

namespace monomorph::train {

/// A way to train a recipe on a cluster.
struct Proposal {
  NamedSharding sharding;
  NamedCheckpointing checkpointing;
  std::int64_t micro_batch = 1;
  StepPrediction prediction;
};

/// Every micro-batch that divides a rank's share of the global batch, with every sharding and every way to recompute
/// that a recipe may have, fastest first. What does not fit in the GPUs' memory is left out. Of all choices of what to
/// recompute in every block one is proposed, the fastest that fits, where keeping all does not.
/// @param global_batch sequences of a step; 0: a step has one micro-batch, of a power of two or of as much as fits
std::vector<Proposal> search(const plan::PlannedRecipe& recipe, const Cluster& cluster, int ranks,
                             std::int64_t global_batch);

/// The plan that takes least memory, with micro-batches of one sequence.
struct SmallestPlan {
  NamedSharding sharding;
  NamedCheckpointing checkpointing;
  std::int64_t bytes = 0;  ///< on a GPU
};
SmallestPlan smallest_plan(const plan::PlannedRecipe& recipe, const Cluster& cluster, int ranks);

}  // namespace monomorph::train
