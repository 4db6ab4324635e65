#pragma once
#include <monomorph/plan/planned_recipe.hpp>

#include <string>

/// What backward computes again by choice, of a recipe as values.
namespace monomorph::train {

/// "Recompute{.norm = true, .activation = true}", as a recipe has it.
std::string choices_text(Recompute again);

/// Of all layers that a recipe's backward reaches.
plan::TotalWork total_work(const plan::PlannedRecipe& recipe, Recompute again);

/// Choices between what is cheap and the whole block, those first that compute least again.
plan::DearChoices dear_choices(const plan::PlannedRecipe& recipe);

/// What a policy that treats all blocks alike says of each.
Recompute (*recompute_always(Recompute again))(int block);

}  // namespace monomorph::train
