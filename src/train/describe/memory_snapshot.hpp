#pragma once
#include <monomorph/train/describe/recipe_program.hpp>

#include <string>
#include <vector>

/// What lies where in a rank's memory, and when in a step: docs/reference/memory.md.
namespace monomorph::train {

/// A rank of a run, as the plan has it.
struct PlannedRank {
  int ranks = 1;
  std::int64_t micro_batch = 1;
  int tree_levels = 0;
};

/// The phases of a step, in their order: "forward layers.0".
std::vector<std::string> phase_names(const RecipeProgram& recipe);

/// One record for each region of the plan, as JSON.
std::string memory_snapshot(const RecipeProgram& recipe, const PlannedRank& rank);

/// The arena's bytes that are in use in each phase, as lines of text with bars.
std::string memory_by_phase(const RecipeProgram& recipe, const PlannedRank& rank);

}  // namespace monomorph::train
