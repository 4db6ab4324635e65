#include "train/commands/weights_commands.hpp"

#include "train/commands/checkpoint_options.hpp"
#include "train/run/as_usage_error.hpp"
#include "train/run/import_weights.hpp"
#include "train/run/run_tokenizer.hpp"
#include "train/weights/export_folder.hpp"
#include "train/weights/travelling_files.hpp"

#include <monomorph/core/standard_streams.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/train/run/run_checkpoint.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>

namespace monomorph::train {

namespace {

/// Of a tokeniser, if there is one.
std::optional<std::int64_t> end_of_text(const std::string& file, const RecipeProgram& recipe) {
  std::error_code ignored;  // what can't be looked at isn't there
  if (!std::filesystem::exists(file, ignored)) return std::nullopt;
  return read_run_tokenizer(file, recipe)->find("<|endoftext|>");
}

}  // namespace

void ImportOptions::add_to(CLI::App& app) {
  app.add_option("FOLDER", folder, "a model of Hugging Face's: config.json and safetensors files")->required();
  app.add_option("--output", output, "a run folder that is to be made")->required();
}

int run_import(const RecipeProgram& recipe, const ImportOptions& options) {
  const ImportedWeights imported =
      as_usage_error("import", [&] { return import_weights(recipe, options.folder, options.output); });
  for (const std::string& note : imported.notes) write_error_line(note);
  show(fmt::format("{}: the weights of {}\n", imported.checkpoint, options.folder));
  return 0;
}

void ExportCommandOptions::add_to(CLI::App& app) {
  app.add_option("--checkpoint", checkpoint, "a checkpoint, or a run folder: its latest")->required();
  app.add_option("--output", output, "a folder that holds no model yet")->required();
  add_choice(app, "--dtype", dtype, "of the weights",
             {{"fp32", DType::fp32}, {"bf16", DType::bf16}, {"fp16", DType::fp16}})
      ->capture_default_str();
  add_number(app, "--file-size", megabytes_per_file, "megabytes in a file of weights, more only for a larger tensor",
             {1, 1'000'000'000})
      ->capture_default_str();
}

int run_export(const RecipeProgram& recipe, const ExportCommandOptions& options) {
  const std::string checkpoint = find_checkpoint(options.checkpoint);
  check_recipe(checkpoint, recipe);
  const std::string run_folder = checkpoint + "/" + runtime::relative_run_folder(checkpoint);
  const std::string line = export_folder(recipe, checkpoint, options.output,
                                         {.dtype = options.dtype,
                                          .bytes_per_file = options.megabytes_per_file * 1'000'000,
                                          .end_of_text = end_of_text(run_folder + "/tokenizer.json", recipe)});
  copy_travelling_files(run_folder, options.output);
  name_tokenizer_class(options.output);
  show(line + "\n");
  return 0;
}

}  // namespace monomorph::train
