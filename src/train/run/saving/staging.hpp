#pragma once
#include "train/run/saving/staged_state.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <memory>
#include <string>
#include <vector>

/// The memory of a run whose checkpoints are written behind its steps, on all ranks or on none.
namespace monomorph::train {

/// Puts on or off in the place of checkpoint.async_save = "auto": off where one rank lacks the memory. Collective.
/// @param notes receives a line if it is off   @return whether it was chosen, so that it may still be given up
/// @throws as choose_async_save
bool choose_async_save_together(const RecipeProgram& recipe, Hparams& hparams, LaunchedRanks ranks,
                                Communicator& communicator, std::vector<std::string>& notes);

/// The memory, where checkpoint.async_save is on. If the system refuses it to a rank, it becomes off. Collective.
/// @param may_be_off or else that is an error   @param notes receives a line if it becomes off
/// @throws UsageError [ARENA-02]; [RANK-08] on other ranks
std::unique_ptr<StagedState> make_staged_state(const RecipeProgram& recipe, Hparams& hparams, bool may_be_off,
                                               TrainingStep& step, Communicator& communicator,
                                               std::vector<std::string>& notes);

}  // namespace monomorph::train
