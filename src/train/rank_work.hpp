#pragma once
#include <monomorph/train/hparams.hpp>
#include <monomorph/train/recipe_program.hpp>

namespace monomorph::train {

/// Of a step.   @param ranks data-parallel ranks, as validate() has accepted them
std::int64_t micro_batches_per_rank(const Hparams& hparams, int ranks);

/// Partial sums of gradients that a rank keeps (plan::tree_levels); 0 unless batch.reduction asks for a fixed tree.
int tree_levels(const Hparams& hparams, int ranks);

/// @throws UsageError [RANK-09] gradients that are rounded between ranks have other bits on every number of them
void check_fixed_tree(const RecipeProgram& recipe, const Hparams& hparams);

}  // namespace monomorph::train
