#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <cstdint>
#include <string>

namespace monomorph::train {

/// What a run writes besides its run folder's files, if it is asked for it.
struct Records {
  std::int64_t traced_steps = 0;     ///< so many, from the second on, into trace_rank_<rank>.json in the run folder
  std::string memory_snapshot_file;  ///< of what lies where in a rank's memory; empty: none
};

/// The whole run: data, steps, evaluation, checkpoints, reports. Returns an exit code: 0 also after Ctrl-C or SIGTERM,
/// when the state is saved.
/// @throws UsageError for what is wrong before the first step; [RUN-05] too many steps in a row had non-finite
/// gradients;
///   [RUN-06] a global batch had no counted token
int train(const RecipeProgram& recipe, const Hparams& hparams, const Records& records, int argc, char** argv);

}  // namespace monomorph::train
