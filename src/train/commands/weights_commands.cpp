#include "train/commands/weights_commands.hpp"

#include "core/as_usage_error.hpp"
#include "core/is_there.hpp"
#include "train/commands/checkpoint_options.hpp"
#include "train/run/data/run_tokenizer.hpp"
#include "train/run/weights/export_gguf.hpp"
#include "train/run/weights/import_weights.hpp"
#include "train/run/weights/special_tokens.hpp"
#include "train/weights/companion_files.hpp"
#include "train/weights/export_adapters.hpp"
#include "train/weights/export_folder.hpp"
#include "train/weights/family.hpp"
#include "train/weights/run_folder_of.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>

#include <memory>
#include <utility>
#include <vector>

namespace monomorph::train {

namespace {

/// The tokenizer of a run folder; null if there is none.
RunTokenizer tokenizer_of(const std::string& run_folder, const RecipeProgram& recipe) {
  const std::string file = tokenizer_in(run_folder);
  return file.empty() ? RunTokenizer{} : read_run_tokenizer(file, recipe);
}

/// A token that fills texts up. Attention does not look at them, so that any will do which stands in none.
std::string token_of_padding(const data::Tokenizer* tokenizer) {
  for (const std::string_view token : {"<pad>", "[PAD]", "<|endoftext|>"})
    if (tokenizer != nullptr && tokenizer->find(token)) return std::string(token);
  return "";
}

std::string export_to_folder(const RecipeProgram& recipe, const std::string& checkpoint, const std::string& run_folder,
                             const ExportCommandOptions& options, const data::Tokenizer* tokenizer) {
  ExportOptions how{.dtype = options.dtype, .bytes_per_file = options.megabytes_per_file * 1'000'000};
  how.family = options.family;
  how.special_tokens = SpecialTokens(run_folder, tokenizer).of_config();
  check_companion_files(run_folder);
  how.write_companions = [&](const std::string& folder) {
    copy_companion_files(run_folder, folder);
    const bool is_encoder = recipe.output == ModelOutput::embeddings;
    if (!is_there(options.output + "/tokenizer_config.json"))  // of yours, perhaps
      name_tokenizer_class(folder, is_encoder ? token_of_padding(tokenizer) : "");
  };
  return export_folder(recipe, checkpoint, options.output, how);
}

}  // namespace

void ImportOptions::add_to(CLI::App& app) {
  app.add_option("FOLDER", folder, "a model of Hugging Face's: config.json and safetensors files")->required();
  app.add_option("--output", output, "a run folder that is to be made")->required();
  app.add_option("--adapter", adapter, "a folder of peft's: adapters of that model, for a recipe that has them");
}

int run_import(const RecipeProgram& recipe, const ImportOptions& options) {
  const ImportedWeights imported =
      as_usage_error("import", [&] { return import_weights(recipe, options.folder, options.output, options.adapter); });
  for (const std::string& note : imported.notes) write_error_line(note);
  show(fmt::format("{}: the weights of {}\n", imported.checkpoint, options.folder));
  return 0;
}

void ExportCommandOptions::add_to(CLI::App& app) {
  app.add_option("--checkpoint", checkpoint, "a checkpoint, or a run folder: its latest")->required();
  auto* const to_folder = app.add_option("--output", output, "a folder that holds no model yet");
  auto* const to_file = app.add_option("--gguf", gguf, "instead: a file for llama.cpp, with the tokeniser");
  add_choice(app, "--dtype", dtype, "of the weights",
             {{"fp32", DType::fp32}, {"bf16", DType::bf16}, {"fp16", DType::fp16}})
      ->capture_default_str();
  auto* const file_size =
      add_number(app, "--file-size", megabytes_per_file,
                 "megabytes in a file of weights, more only for a larger tensor", {1, 1'000'000'000});
  file_size->capture_default_str();
  std::vector<std::pair<std::string, const Family*>> model_types;
  for (const Family* const one : families()) model_types.emplace_back(one->model_type, one);
  auto* const model_type =
      add_choice(app, "--model-type", family, "of config.json, if not the first that the model can be", model_types);
  app.add_flag("--adapter", adapter, "instead: the adapters alone, as peft has them")
      ->excludes(to_file, file_size, model_type);
  to_file->excludes(to_folder, file_size, model_type);
}

int run_export(const RecipeProgram& recipe, const ExportCommandOptions& options) {
  if (options.output.empty() && options.gguf.empty())
    throw UsageError("RUN-13", "export must have --output, a folder, or --gguf, a file; give one of them");
  const std::string checkpoint = find_checkpoint(options.checkpoint);
  check_recipe(checkpoint, recipe);
  if (options.adapter) {
    show(export_adapters(recipe, checkpoint, options.output, options.dtype) + "\n");
    return 0;
  }
  const std::string run_folder = run_folder_of(checkpoint);
  const RunTokenizer loaded = tokenizer_of(run_folder, recipe);
  const data::Tokenizer* const tokenizer = loaded.tokenizer.get();
  if (options.gguf.empty()) {
    const std::string line = export_to_folder(recipe, checkpoint, run_folder, options, tokenizer);
    write_note(loaded.note);
    show(line + "\n");
    return 0;
  }
  const ExportedGguf exported = export_gguf(recipe, checkpoint, options.gguf, options.dtype, tokenizer, run_folder);
  write_note(loaded.note);
  for (const std::string& note : exported.notes) write_error_line(note);
  show(exported.line + "\n");
  return 0;
}

}  // namespace monomorph::train
