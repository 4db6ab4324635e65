#pragma once
#include "train/run/data/held_out_sets.hpp"

#include <monomorph/data/loading/loader.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/run/folder/run_folder.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>
#include <monomorph/train/step/run_state.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::train {

/// What the recipe, whose objective has these hyperparameters, wants to be in its batches.
data::BatchContents batch_contents(const RecipeProgram& recipe, const PolicyHparams& objective);

/// What the data files and the tokeniser give to a run, checked against the recipe and the run's length.
struct RunData {
  data::Loader train;
  HeldOutSets held_out;
  std::vector<std::int32_t> bytes_per_token;  ///< by id; empty where bits per byte are not known
  TrainFiles train_files;                     ///< and the scores of a reference beside them, by their own paths
  DescribedData described;
  std::vector<std::string> notes;  ///< lines for the user

  /// @throws UsageError [DATA-63] a set is of another tokeniser; [CHAT-15] so is a loss mask; [RUN-07], [RUN-15]; as
  ///   the loaders do
  RunData(const RecipeProgram& recipe, const Hparams& hparams);

  /// @throws UsageError [DATA-61] a file of the checkpoint's run has other tokens now; [PREF-13] other scores
  void check_same_files(const std::string& checkpoint) const;
  /// Checks the length of a run that begins, or goes on from here: samples count as often as they were drawn, those of
  /// steps that it has gone back behind, too.
  /// @throws UsageError [DATA-60] a set is too short for it
  void check_epochs(const RunState& from, const Hparams& hparams) const;
  /// A line for each training set: tokens, share and epochs of a run of `n` samples.
  std::string describe_sets(std::int64_t n) const;
};

}  // namespace monomorph::train
