#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::train {

/// The whole run: data, steps, evaluation, checkpoints, reports. Returns an exit code: 0 also after Ctrl-C or SIGTERM,
/// when the state is saved.
/// @throws UsageError for what is wrong before the first step; [RUN-05] too many steps in a row had non-finite
/// gradients;
///   [RUN-06] a global batch had no counted token
/// @param traced_steps so many steps, from the second on, are written to trace_rank_<rank>.json in the run folder
int train(const RecipeProgram& recipe, const Hparams& hparams, std::int64_t traced_steps, int argc, char** argv);

}  // namespace monomorph::train
