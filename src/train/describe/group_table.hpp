#pragma once
#include "train/describe/fact_text.hpp"

#include <monomorph/train/describe/recipe_program.hpp>

namespace monomorph::train {

/// Of a recipe that groups parameters or freezes some: the groups, what is in none, and what is frozen, each with its
/// factors and how many tensors and parameters it has. Nothing of any other recipe.
void group_table(Text& text, const RecipeProgram& recipe);

}  // namespace monomorph::train
