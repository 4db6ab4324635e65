#include "train/commands/checkpoint_options.hpp"

#include "train/weights/companion_files.hpp"
#include "train/weights/run_folder_of.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

namespace monomorph::train {

void show(std::string_view text) {
  write_out(text);
  flush_out();
}

void write_note(std::string_view note) {
  if (!note.empty()) write_error_line(note);
}

void CheckpointOptions::add_to(CLI::App& app) {
  app.add_option("--checkpoint", checkpoint, "a checkpoint, or a run folder: its latest")->required();
  app.add_option("--tokenizer", tokenizer, "a tokenizer.json or tokenizer.model; the run's own if it is not given");
}

std::string CheckpointOptions::tokenizer_file(const std::string& found, const Hparams& hparams) const {
  if (!tokenizer.empty()) return tokenizer;
  std::string of_run = tokenizer_in(run_folder_of(found));
  return of_run.empty() ? hparams.data.tokenizer.value : of_run;
}

RunTokenizer CheckpointOptions::required_tokenizer(const std::string& found, const Hparams& hparams,
                                                   const RecipeProgram& recipe) const {
  const std::string file = tokenizer_file(found, hparams);
  if (file.empty())
    throw UsageError("RUN-11", "the run of this checkpoint had no data.tokenizer; give --tokenizer <file>");
  return read_run_tokenizer(file, recipe);
}

Owned<InferenceModel> restored_model(const RecipeProgram& recipe, const std::string& checkpoint,
                                     std::int64_t micro_batch, const PolicyHparams& objective,
                                     Communicator& communicator) {
  auto model = recipe.make_inference_model(communicator, micro_batch, objective);
  restore_model(checkpoint, recipe, *model);
  return model;
}

}  // namespace monomorph::train
