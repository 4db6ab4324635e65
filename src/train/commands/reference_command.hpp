#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::train {

/// Writes, beside each set of a run over sequences, how probable its sequences are to the model that the run starts
/// from: what its objective compares with (data/formats/reference_scores.hpp). It is the work of all ranks that there
/// are.
/// @throws UsageError [PREF-09] the recipe's objective is not over sequences; [PREF-10] `weights.from` is empty;
/// what is wrong with a set or with the weights   @throws [PREF-11] a score is no number
int run_reference(const RecipeProgram& recipe, const Hparams& hparams);
/// What that can find wrong before the ranks are there.
void check_reference_command(const RecipeProgram& recipe, const Hparams& hparams);

}  // namespace monomorph::train
