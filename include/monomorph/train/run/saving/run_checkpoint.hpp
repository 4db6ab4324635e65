#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/run/folder/train_files.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// What a checkpoint of a run says beside its tensors.
/// @param evaluation as of save_run
runtime::CheckpointMetadata checkpoint_metadata(const RecipeProgram& recipe, const Hparams& hparams,
                                                const RunState& state, const TrainFiles& train_files, int ranks,
                                                std::optional<double> evaluation);

/// Saves all state of a run. All ranks call it.
/// @param evaluation of this state by checkpoint.best_metric, if it was evaluated and the run keeps its best
/// @param before_completing as of runtime::save_checkpoint
/// @return warnings   @throws as runtime::save_checkpoint
std::vector<std::string> save_run(
    const std::string& folder, const runtime::Retention& retention, const RecipeProgram& recipe, const Hparams& hparams,
    const RunState& state, const TrainFiles& train_files, TrainingStep& step, Communicator& communicator,
    const std::function<void()>& before_completing = [] {}, std::optional<double> evaluation = std::nullopt);

/// Which checkpoints a run keeps.
runtime::Retention retention_of(const RecipeProgram& recipe, const Hparams& hparams);

using runtime::find_checkpoint;

/// Checks that a recipe can resume from a checkpoint: their state fingerprints must be equal (plan::state_fingerprint).
/// @return a line that says in what else the recipes differ, if they do
/// @throws UsageError [RUN-04] they differ in what shapes the state; as runtime::read_checkpoint_metadata
std::optional<std::string> check_recipe(const std::string& checkpoint, const RecipeProgram& recipe);

/// Checks that a checkpoint has the optimiser's state.   @throws UsageError [WEIGHTS-10] it holds weights alone
void check_resumable(const std::string& checkpoint);

struct RestoredRun {
  RunState state;
  bool same_precision = true;  ///< the recipe's precision is the checkpoint's
  Hparams hparams;
};
/// Loads the parameters, and if asked the optimiser's state as well, into a step of a recipe with the same state
/// fingerprint. Of each tensor a rank reads the part that it holds, whatever the number of ranks that saved it.
/// @param best as of saved_state
/// @throws [RUN-04] if the checkpoint's recipe has another one; as runtime::CheckpointReader
RestoredRun restore_run(const std::string& checkpoint, const RecipeProgram& recipe, TrainingStep& step,
                        bool optimizer_state, const std::optional<runtime::BestCounter>& best = std::nullopt);

/// Loads the parameters for use: their moving average if the optimiser kept one, rounded to the dtype in which the
/// model has them as a step rounds its own.   @throws same
void restore_model(const std::string& checkpoint, const RecipeProgram& recipe, InferenceModel& model);

/// The training files that a checkpoint's run had; none if it is of a version that did not save them.
TrainFiles checkpoint_train_files(const std::string& checkpoint);

/// The hyperparameters that a checkpoint was made with.
Hparams checkpoint_hparams(const std::string& checkpoint, const RecipeProgram& recipe);

}  // namespace monomorph::train
