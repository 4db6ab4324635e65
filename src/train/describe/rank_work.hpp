#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::train {

/// Of a step.   @param ranks data-parallel ranks, as validate() has accepted them
std::int64_t micro_batches_per_rank(const Hparams& hparams, int ranks);

/// Partial sums of gradients that a rank keeps (plan::tree_levels); 0 unless batch.reduction asks for a fixed tree.
int tree_levels(const Hparams& hparams, int ranks);

/// That so many ranks can share the recipe's work.
/// @throws UsageError [RANK-17] they can't be divided into the groups of its sharding
void check_groups(const RecipeProgram& recipe, int ranks);

/// All that hyperparameters and recipe say of a number of ranks.
/// @param mistakes receives [RANK-17]; what validate() finds; [RANK-09] gradients that are rounded between ranks have
///   other bits on every number of them; [RANK-19] a fixed tree, and gradients that would be kept whole for nothing
void check_ranks(const RecipeProgram& recipe, const Hparams& hparams, int ranks, Mistakes& mistakes);
/// @throws UsageError of a line for each of them
void check_ranks(const RecipeProgram& recipe, const Hparams& hparams, int ranks);

}  // namespace monomorph::train
