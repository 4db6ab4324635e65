#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <string>

namespace monomorph::train {

/// All that can be known without training: hyperparameters, ranks, memory, data and the checkpoint to resume against
/// the recipe. Whatever training would refuse before its first step is refused here.   @throws as train
std::string check(const RecipeProgram& recipe, const Hparams& hparams, LaunchedRanks ranks);

/// Every collective of the recipe's sharding on the ranks that a launcher started: their speeds and the slowest pair of
/// ranks, in rank 0; empty in the others.   @throws as connect and check_collectives
std::string check_collectives(const RecipeProgram& recipe, const Hparams& hparams);

}  // namespace monomorph::train
