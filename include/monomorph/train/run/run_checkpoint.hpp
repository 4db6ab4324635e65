#pragma once
#include <monomorph/runtime/files/find_checkpoint.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace monomorph::train {

/// Where a run stands: with the parameters, the moments and the hyperparameters, everything that its next step depends
/// on.
struct RunState {
  std::int64_t step = 0;     ///< finished steps, skipped ones included
  std::int64_t updates = 0;  ///< steps that the optimiser took
  std::int64_t samples = 0;  ///< the data position: sequences drawn
  std::int64_t tokens = 0;   ///< counted targets trained on
  std::int64_t skipped = 0;
  std::int64_t skipped_in_a_row = 0;  ///< for another reason than a loss scale that was too high
  double loss_scale = 1;              ///< of the next step
  std::int64_t steps_at_scale = 0;    ///< since the scale was changed
};

/// By path of a training file what tells its tokens from others.
using TrainFiles = std::map<std::string, std::int64_t>;

/// Saves all state of a run. All ranks call it.
/// @param keep so many checkpoints stay in the folder, or all
/// @param before_completing as of runtime::save_checkpoint
/// @return warnings   @throws as runtime::save_checkpoint
std::vector<std::string> save_run(
    const std::string& folder, OptionalCount keep, const RecipeProgram& recipe, const Hparams& hparams,
    const RunState& state, const TrainFiles& train_files, TrainingStep& step, Communicator& communicator,
    const std::function<void()>& before_completing = [] {});

using runtime::find_checkpoint;

/// Whether a recipe can go on from a checkpoint: plan::state_fingerprint decides.
/// @return a line on how the recipes differ, if they do
/// @throws UsageError [RUN-04] they differ in what shapes the state; as runtime::read_checkpoint_metadata
std::optional<std::string> check_recipe(const std::string& checkpoint, const RecipeProgram& recipe);

struct RestoredRun {
  RunState state;
  bool same_precision = true;  ///< the recipe computes as the checkpoint's did
  Hparams hparams;
};
/// Loads parameters, and with `moments` the optimiser's state too, into a step of a recipe that has the same state, on
/// whatever number of ranks: of each tensor what this rank holds.
/// @throws [RUN-04] if the checkpoint's recipe has another; as runtime::CheckpointReader
RestoredRun restore_run(const std::string& checkpoint, const RecipeProgram& recipe, TrainingStep& step, bool moments);

/// The training files that a checkpoint's run had; none if it is of a version that did not save them.
TrainFiles checkpoint_train_files(const std::string& checkpoint);

/// The hyperparameters that a checkpoint was made with.
Hparams checkpoint_hparams(const std::string& checkpoint);

}  // namespace monomorph::train
