#pragma once
#include <monomorph/train/hparams.hpp>
#include <monomorph/train/recipe_program.hpp>

namespace monomorph::train {

/// run.output_dir, with everything needed to repeat the run: hparams.json (all values), recipe.txt (the `describe`
/// output), tokenizer.json, run.json (program, data files, threads, command line), metrics.jsonl, event files, checkpoints.
class RunFolder {
 public:
  /// Creates the folder and writes what describes the run.
  /// @param resumes an existing run is continued; else a folder that has one is refused
  /// @throws UsageError [RUN-01] the folder already holds a run; [FILE-…]
  RunFolder(const Hparams& hparams, const RecipeProgram& recipe, bool resumes, int argc, char** argv);

  std::string file(std::string_view name) const;
  std::string checkpoints() const;  ///< checkpoint.directory

 private:
  std::string path_, checkpoints_;
};

}  // namespace monomorph::train
