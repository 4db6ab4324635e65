#pragma once
#include <monomorph/core/machine_memory.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// What a rank of a run will fill: the plan, what the kernels' threads keep, and the batches that are read ahead.
struct RunMemory {
  std::int64_t planned, kernels, batches;
  std::int64_t total() const { return planned + kernels + batches; }
};
/// Of one of so many ranks.
RunMemory run_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks);

/// Compares it with what the machine has, before anything is allocated: the system promises memory that it does not
/// have, and ends the process when it is used.
/// @param local_ranks of the `ranks`, so many share this machine
/// @return a line of warning if other programs have so much of it that the run may not fit
/// @throws UsageError [RUN-16] it cannot fit
std::optional<std::string> check_memory(const RecipeProgram& recipe, const Hparams& hparams, int ranks, int local_ranks,
                                        const MachineMemory& machine);

}  // namespace monomorph::train
