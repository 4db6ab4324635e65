#pragma once
#include <monomorph/plan/planned_recipe.hpp>

#include <string>

/// What backward of a recipe, given as values, may compute again by choice.
namespace monomorph::train {

/// "Recompute{.norm = true, .activation = true}", as a recipe has it.
std::string choices_text(Recompute again);

/// The work that a choice repeats, of all layers that the recipe's backward reaches.
plan::TotalWork total_work(const plan::PlannedRecipe& recipe, Recompute again);

/// Choices between what is cheap and the whole block, in ascending order of the work that is repeated.
plan::SelectiveChoices selective_choices(const plan::PlannedRecipe& recipe);

/// The function `recompute` of a checkpointing policy that makes the same choice for every block.
Recompute (*recompute_always(Recompute again))(int block);

}  // namespace monomorph::train
