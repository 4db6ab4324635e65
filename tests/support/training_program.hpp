#pragma once
#include <monomorph/train/commands/run_recipe.hpp>

namespace monomorph::testing {

/// The program of a recipe that is trained, evaluated, saved and loaded, but generates nothing: no decoder is compiled
/// for it.
template <Recipe R> train::RecipeProgram training_program() { return detail::program_of<R, train::Step<R>>(); }

}  // namespace monomorph::testing
