#pragma once
#include "train/scaling/hardware.hpp"

#include <monomorph/plan/planned_recipe.hpp>

#include <string>

namespace monomorph::train {

/// What `describe --gpu` is asked.
struct ScalingQuestion {
  Cluster cluster;
  int ranks = 1;
  std::int64_t micro_batch = 1;
  std::int64_t global_batch = 0;  ///< 0: a step has one micro-batch
};

/// @throws UsageError [SCALE-04] micro-batches of all ranks do not divide the global batch
void check_global_batch(const ScalingQuestion& question);

/// Whether such a cluster can train the recipe.
/// @throws UsageError [SCALE-01] ranks on several nodes, and no network; [SCALE-02] nodes that are not full; [SCALE-03]
/// a GPU without products of the recipe's dtype; [SCALE-04] a global batch that micro-batches do not divide
void check(const plan::PlannedRecipe& recipe, const ScalingQuestion& question);

/// The predicted step of the recipe as it is, and of it with every sharding strategy, as text.
std::string describe_scaling(const plan::PlannedRecipe& recipe, const ScalingQuestion& question);

/// The best of search(), as lines for the recipe and its hyperparameters.
/// @throws UsageError [SCALE-05] no plan fits
std::string describe_search(const plan::PlannedRecipe& recipe, const ScalingQuestion& question);

}  // namespace monomorph::train
