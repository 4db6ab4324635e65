#pragma once
#include <monomorph/train/describe/recipe_program.hpp>

namespace monomorph::train {

/// The recipe as text: policies, architecture, parameter table, FLOPs per token, bytes per rank by kind, fingerprint.
std::string describe(const RecipeProgram& recipe, int ranks, std::int64_t micro_batch);

/// "0123456789abcdef"
std::string fingerprint_text(std::uint64_t fingerprint);

}  // namespace monomorph::train
