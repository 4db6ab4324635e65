#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::train {

/// How many micro-batches each rank computes in a step.   @param ranks data-parallel ranks, as validate() has accepted
/// them
std::int64_t micro_batches_per_rank(const Hparams& hparams, int ranks);

/// Partial sums of gradients that a rank keeps (plan::tree_levels); 0 unless batch.reduction asks for a fixed tree.
int tree_levels(const Hparams& hparams, int ranks);

/// Checks that so many ranks can share the recipe's work.
/// @throws UsageError [RANK-17] they can't be divided into the groups of its sharding
void check_groups(const RecipeProgram& recipe, int ranks);

/// Checks everything that the hyperparameters, the recipe and the number of ranks require of each other.
/// @param mistakes receives [RANK-17]; what validate() finds; what check_best_metric() finds; [RANK-09] a fixed tree,
/// and gradients that are rounded between ranks; [RANK-24] one, and an objective that compares the samples of all ranks
void check_ranks(const RecipeProgram& recipe, const Hparams& hparams, int ranks, Mistakes& mistakes);
/// @throws UsageError with a line for each mistake
void check_ranks(const RecipeProgram& recipe, const Hparams& hparams, int ranks);

}  // namespace monomorph::train
