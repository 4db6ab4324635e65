#pragma once
#include <monomorph/runtime/world.hpp>
#include <monomorph/train/hparams.hpp>
#include <monomorph/train/recipe_program.hpp>
#include <string>
#include <vector>

namespace monomorph::train {

/// What a rank is about to train.
struct RankConfiguration {
  std::string fingerprint;      ///< of the recipe
  std::string hyperparameters;  ///< JSON, complete
};

/// Empty if all ranks are about to train the same; otherwise one line that names those which are not as most are, and
/// what differs.
std::string disagreement(const std::vector<RankConfiguration>& ranks);

/// Compares all ranks' recipes and hyperparameters.
/// @throws UsageError [RANK-06] they differ: the same line on every rank
void check_agreement(const World& world, const RecipeProgram& recipe, const Hparams& hparams);

}  // namespace monomorph::train
