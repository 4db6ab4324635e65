#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <cstdint>
#include <optional>
#include <string>

/// Whether a run has the memory by which checkpoints are written behind the steps (plan::Memory::checkpoint_staging).
namespace monomorph::train {

/// Puts on or off in the place of checkpoint.async_save = "auto": on where the copy fits the memory that is free, and,
/// on a device without a memory of its own, with the rest of the plan the recipe's budget.
/// @param free_main_memory of the machine, whose ranks share it
/// @return why it is off, if it was to be chosen; nothing otherwise
/// @throws UsageError [CHECKPOINT-20] it is on, and the budget does not allow it
std::optional<std::string> choose_async_save(const RecipeProgram& recipe, Hparams& hparams, LaunchedRanks ranks,
                                             std::int64_t free_main_memory);

/// The line that says that it was not chosen, and why.
std::string async_save_is_off(const std::string& reason);

}  // namespace monomorph::train
