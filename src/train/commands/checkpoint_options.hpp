#pragma once
#include "train/run/data/run_tokenizer.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/step/inference_model.hpp>

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>

namespace monomorph::train {

/// Writes a result and flushes, so that it appears as soon as it is known: generated text above all.
void show(std::string_view text);

/// Tells the user what is no result, in a line on standard error; nothing if it is empty.
void write_note(std::string_view note);

/// The options of commands that use a checkpoint without training.
struct CheckpointOptions {
  std::string checkpoint, tokenizer;
  void add_to(CLI::App& app);
  /// The tokeniser given as an option; without one, the copy in the run folder; without that, the file that the run was
  /// given.
  std::string tokenizer_file(const std::string& found, const Hparams& hparams) const;
  /// Of that file, for a command that can do nothing without.   @throws UsageError [RUN-11] there is none; as
  /// read_run_tokenizer
  RunTokenizer required_tokenizer(const std::string& found, const Hparams& hparams, const RecipeProgram& recipe) const;
};

/// A model with a checkpoint's parameters, and without the memory of training.
/// @param micro_batch, objective as of RecipeProgram::make_inference_model
Owned<InferenceModel> restored_model(const RecipeProgram& recipe, const std::string& checkpoint,
                                     std::int64_t micro_batch, const PolicyHparams& objective,
                                     Communicator& communicator);

}  // namespace monomorph::train
