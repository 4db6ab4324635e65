#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// The memory by which checkpoints are written behind the steps, and whether a run has it.
namespace monomorph::train {

/// Main memory of a rank for a copy of what it saves: masters and the optimiser's state, as they are planned.
std::int64_t staging_bytes(const RecipeProgram& recipe, const plan::Memory& plan);

/// Why that copy is no part of what the recipe's budget allows a rank, if it is not. It counts against a budget of main
/// memory alone.   @param ranks data-parallel ranks
std::optional<std::string> staging_beyond_budget(const RecipeProgram& recipe, const Hparams& hparams, int ranks);

/// Puts on or off in the place of checkpoint.async_save = "auto".
/// @param free_main_memory of the machine, whose ranks share it
/// @return why it is off, if it was to be chosen; nothing otherwise
/// @throws UsageError [CHECKPOINT-20] it is on, and the budget does not allow it
std::optional<std::string> choose_async_save(const RecipeProgram& recipe, Hparams& hparams, LaunchedRanks ranks,
                                             std::int64_t free_main_memory);

/// The line that says that it was not chosen, and why.
std::string async_save_is_off(const std::string& reason);

}  // namespace monomorph::train
