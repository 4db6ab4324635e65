#pragma once
#include <monomorph/core/machine_memory.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// The plan of a rank of a run, of so many.
plan::Memory planned_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks);
/// The plan of a rank of so many that go forward alone.   @param micro_batch 0 for one that extends texts
plan::Memory inference_memory(const RecipeProgram& recipe, int ranks, std::int64_t micro_batch);
/// "17.5 GiB planned", and what of the host's memory where a device has its own.
std::string planned_text(const plan::Memory& plan);

/// What a rank of a run will fill: the plan, what the kernels' threads keep, the batches that are read ahead, and the
/// copy of its state from which checkpoints are written behind the steps, where checkpoint.async_save is on.
struct RunMemory {
  std::int64_t planned, kernels, batches, staging = 0;
  std::int64_t total() const { return planned + kernels + batches + staging; }
};
/// The memory of one rank, of so many.
RunMemory run_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks);
/// The same with another plan than the recipe's own.
RunMemory run_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks, const plan::Memory& plan);

/// Compares the run's memory with the machine's before anything is allocated: Linux promises memory that it does not
/// have, and kills the process that then uses it.
/// @param local_ranks how many of the `ranks` share this machine
/// @return a warning if other programs use so much memory that the run may not fit
/// @throws UsageError [RUN-16] it cannot fit
std::optional<std::string> check_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks, int local_ranks,
                                        const MachineMemory& machine);

}  // namespace monomorph::train
