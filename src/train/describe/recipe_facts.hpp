#pragma once
#include <monomorph/train/describe/recipe_program.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What a recipe is, by the names of its members and of its model's fields, for a checkpoint to keep.
std::map<std::string, std::string> recipe_facts(const RecipeProgram& recipe);

/// Of recipes with adapters the first parameter that is trained beside them, by the name that checkpoints have for it;
/// empty if there is none.
std::string trained_beside_adapters(const RecipeProgram& recipe);
/// The fact that says so, as the name of a policy may say less than it trains. Checkpoints of recipes without adapters,
/// and those of earlier versions, have none.
inline constexpr std::string_view beside_adapters_fact = "trained_beside_adapters", nothing_beside_adapters = "nothing";

/// "precision: Bf16Mixed there, Fp32 here; ...": the facts that differ from a checkpoint's. With of_the_state these are
/// the facts that the state fingerprint depends on, otherwise all others. Only the first few are listed; empty if none
/// differs.
std::string differing_facts(const std::map<std::string, std::string>& there, const RecipeProgram& here,
                            bool of_the_state);

}  // namespace monomorph::train
