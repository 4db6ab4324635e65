#pragma once
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/run/folder/train_files.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace monomorph::train {

/// What a run's folder is told of its data.
struct DescribedData {
  TrainFiles files;           ///< the held-out ones among them
  std::string chat_template;  ///< in Jinja, by which the run's chats are written; empty: the tokeniser's, or none
};

/// run.output_dir, with everything needed to repeat the run: hparams.json (all values), recipe.txt (the `describe`
/// output), tokenizer.json and what lies beside it, chat_template.jinja, run.json (versions, data files, what computes,
/// command line), metrics.jsonl, event files, checkpoints.
class RunFolder {
 public:
  /// Writes the files that describe the run into the folder, which must exist. When a run is resumed, they replace
  /// those that it has written before.
  /// @param resumed_from the checkpoint that the run goes on from   @param data the run's
  /// @param ranks data-parallel ranks   @throws [FILE-…]
  RunFolder(const Hparams& hparams, const RecipeProgram& recipe, const std::optional<std::string>& resumed_from,
            const DescribedData& data, int ranks, int argc, char** argv);

  /// Checks that a run may use the folder. If the folder holds a run already, the new one must resume from a checkpoint
  /// of that run, or begin it again by checkpoint.resume=auto if it has saved none. A folder with checkpoints of
  /// another run is refused as well, because they would be taken for the new run's.   @throws UsageError [RUN-01]
  static void check_free(const Hparams& hparams, const std::optional<std::string>& resumed_from);

  /// Writes the files again, after the folder was removed.   @throws [FILE-…]
  void write() const;
  /// Whether all files that were written still exist.
  bool is_complete() const;

  bool held_a_run() const { return held_a_run_; }  ///< the folder held one before this one
  std::string file(std::string_view name) const;

 private:
  std::string path_;
  bool held_a_run_;
  std::vector<std::pair<std::string, std::string>> texts_;  ///< by file name, in the order in which they are written
};

/// checkpoint.directory, which may be relative to run.output_dir.
std::string checkpoint_folder(const Hparams& hparams);

}  // namespace monomorph::train
