#pragma once
#include <monomorph/train/hparams.hpp>
#include <monomorph/train/recipe_program.hpp>
#include <optional>

namespace monomorph::train {

/// run.output_dir, with everything needed to repeat the run: hparams.json (all values), recipe.txt (the `describe`
/// output), tokenizer.json, run.json (program, data files, threads, command line), metrics.jsonl, event files,
/// checkpoints.
class RunFolder {
 public:
  /// Creates the folder and writes what describes the run.
  /// @param resumed_from the checkpoint that the run goes on from; a folder that holds a run is refused if it is not
  ///   one of that run's
  /// @throws UsageError [RUN-01] the folder already holds a run; [RUN-02] it can't be created; [FILE-…]
  RunFolder(const Hparams& hparams, const RecipeProgram& recipe, const std::optional<std::string>& resumed_from,
            int argc, char** argv);

  /// Whether a run may begin there.   @throws UsageError [RUN-01]
  static void check_free(const Hparams& hparams, const std::optional<std::string>& resumed_from);

  std::string file(std::string_view name) const;
  std::string checkpoints() const;  ///< checkpoint.directory

 private:
  std::string path_, checkpoints_;
};

}  // namespace monomorph::train
