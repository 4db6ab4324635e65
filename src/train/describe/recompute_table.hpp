#pragma once
#include "train/describe/fact_text.hpp"

#include <monomorph/train/describe/recipe_program.hpp>

namespace monomorph::train {

/// What all blocks keep of a micro-batch for backward, by choice of Recompute, and the operations per trained token
/// that computing it again takes. Nothing of a recipe whose blocks keep nothing by choice.
void recompute_table(Text& text, const RecipeProgram& recipe, std::int64_t micro_batch);

}  // namespace monomorph::train
