#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <string>

namespace monomorph::train {

/// Checks everything that can be checked without training, against the recipe: hyperparameters, ranks, memory, data and
/// the checkpoint to resume from. Whatever training would refuse before its first step is refused here.
/// @throws as train
std::string check(const RecipeProgram& recipe, Hparams hparams, LaunchedRanks ranks);

/// Runs every collective of the recipe's sharding on the ranks that a launcher started. Returns the speeds and the
/// slowest pair of ranks on rank 0, and an empty text on the others.   @throws as connect and check_collectives
std::string check_collectives(const RecipeProgram& recipe, const Hparams& hparams);

}  // namespace monomorph::train
