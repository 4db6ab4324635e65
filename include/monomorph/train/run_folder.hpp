#pragma once
#include <monomorph/train/hparams.hpp>
#include <monomorph/train/recipe_program.hpp>
#include <monomorph/train/run_checkpoint.hpp>
#include <optional>

namespace monomorph::train {

/// run.output_dir, with everything needed to repeat the run: hparams.json (all values), recipe.txt (the `describe`
/// output), tokenizer.json, run.json (versions, data files, what computes, command line), metrics.jsonl, event files,
/// checkpoints.
class RunFolder {
 public:
  /// Creates the folder and writes what describes the run, in place of what a run left there that it goes on with.
  /// @param resumed_from the checkpoint that the run goes on from   @param files the run's data
  /// @param ranks data-parallel ranks
  /// @throws UsageError [RUN-01] the folder already holds a run; [RUN-02] it can't be created; [FILE-…]
  RunFolder(const Hparams& hparams, const RecipeProgram& recipe, const std::optional<std::string>& resumed_from,
            const TrainFiles& files, int ranks, int argc, char** argv);

  /// Whether a run may begin there. In a folder that holds one it may go on from a checkpoint of that run, or, by
  /// checkpoint.resume=auto, begin that run again if it has saved none.   @throws UsageError [RUN-01]
  static void check_free(const Hparams& hparams, const std::optional<std::string>& resumed_from);

  /// Whether what the run will write has a place, so that it need not train to its first save to learn that it has
  /// none. Leaves nothing behind.   @throws UsageError [RUN-02]
  static void check_writable(const Hparams& hparams);

  bool held_a_run() const { return held_a_run_; }  ///< before this one
  std::string file(std::string_view name) const;
  std::string checkpoints() const;  ///< checkpoint.directory

 private:
  std::string path_, checkpoints_;
  bool held_a_run_;
};

/// checkpoint.directory, which may be relative to run.output_dir.
std::string checkpoint_folder(const Hparams& hparams);

}  // namespace monomorph::train
