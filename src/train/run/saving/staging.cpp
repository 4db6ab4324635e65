#include "train/run/saving/staging.hpp"

#include "train/describe/async_save_choice.hpp"

#include <monomorph/core/machine_memory.hpp>
#include <monomorph/runtime/comm/together.hpp>

namespace monomorph::train {

bool choose_async_save_together(const RecipeProgram& recipe, Hparams& hparams, LaunchedRanks ranks,
                                Communicator& communicator, std::vector<std::string>& notes) {
  AsyncSave& async_save = hparams.checkpoint.async_save.value;
  if (async_save != AsyncSave::automatic) {
    choose_async_save(recipe, hparams, ranks, MachineMemory::unknown);  // the same on all ranks
    return false;
  }
  const auto reason = choose_async_save(recipe, hparams, ranks, machine_memory().available);
  if (any_rank(communicator, reason.has_value())) {
    async_save = AsyncSave::off;
    notes.push_back(async_save_is_off(reason.value_or("another rank lacks the memory")));
  }
  return async_save == AsyncSave::on;
}

std::unique_ptr<StagedState> make_staged_state(const RecipeProgram& recipe, Hparams& hparams, bool may_be_off,
                                               TrainingStep& step, Communicator& communicator,
                                               std::vector<std::string>& notes) {
  if (hparams.checkpoint.async_save.value == AsyncSave::off) return nullptr;
  const bool writes = communicator.rank() < communicator.shards();  // further copies of the model write no file
  std::unique_ptr<StagedState> staged;
  together(communicator, "take the memory for checkpoints", [&] {
    try {
      staged = std::make_unique<StagedState>(step, writes, recipe.computed_by());
    } catch (const UsageError& refusal) {
      if (!may_be_off || refusal.id() != "ARENA-02") throw;
    }
  });
  if (!any_rank(communicator, staged == nullptr)) return staged;
  hparams.checkpoint.async_save.value = AsyncSave::off;
  notes.push_back(async_save_is_off("the system refuses the memory for a copy of the state"));
  return nullptr;
}

}  // namespace monomorph::train
