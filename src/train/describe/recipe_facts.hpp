#pragma once
#include <monomorph/train/describe/recipe_program.hpp>

#include <map>
#include <string>
#include <vector>

namespace monomorph::train {

/// What a recipe is, by the names of its members and of its model's fields, for a checkpoint to keep.
std::map<std::string, std::string> recipe_facts(const RecipeProgram& recipe);

/// "precision: Bf16Mixed there, Fp32 here; ...": the facts that differ from a checkpoint's. With of_the_state these are
/// the facts that the state fingerprint depends on, otherwise all others. Only the first few are listed; empty if none
/// differs.
std::string differing_facts(const std::map<std::string, std::string>& there, const RecipeProgram& here,
                            bool of_the_state);

}  // namespace monomorph::train
