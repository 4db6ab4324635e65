#pragma once
#include "train/describe/micro_batch_choice.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/communicator.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The step of a run, with a micro-batch that all its ranks have the memory for where batch.micro_batch = "auto".
namespace monomorph::train {

/// The choice of a rank.   @param checkpoint that the run resumes from, if it does
/// @return absent if the hyperparameters name a number
std::optional<MicroBatchChoice> choose_micro_batch(const RecipeProgram& recipe, const Hparams& hparams,
                                                   const std::optional<std::string>& checkpoint, LaunchedRanks ranks,
                                                   FreeMemory (*memory_of)(const RecipeProgram&));

/// The least of what ranks choose, whose devices and machines may differ. Collective.   @throws as free_memory
std::optional<MicroBatchChoice> choose_micro_batch_together(const RecipeProgram& recipe, const Hparams& hparams,
                                                            const std::optional<std::string>& checkpoint,
                                                            LaunchedRanks ranks, Communicator& communicator);

/// The step. While a rank's system or device refuses the memory that the plan needs, all ranks try again with the next
/// smaller micro-batch, if that was chosen for its memory. Collective.
/// @param hparams whose batch.micro_batch becomes that of the step   @param notes receives a line about the choice
/// @throws UsageError [ARENA-02], [GPU-05], [GPU-06] memory is refused
Owned<TrainingStep> make_fitting_step(const RecipeProgram& recipe, Hparams& hparams,
                                      std::optional<MicroBatchChoice> choice, Communicator& communicator,
                                      std::vector<std::string>& notes);

/// Whether an error says that memory is not there.
bool is_refused_memory(const Error& error);

/// The same refusal with the plan's largest parts and what to do about it. What the run has taken must be free again.
/// @param hparams whose micro-batch is that of the step; 1 if none was chosen yet
UsageError with_memory_advice(const UsageError& refusal, const RecipeProgram& recipe, Hparams hparams, int ranks);

}  // namespace monomorph::train
