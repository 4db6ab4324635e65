#include "train/commands/checkpoint_options.hpp"

#include <monomorph/core/standard_streams.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <filesystem>

namespace monomorph::train {

void show(std::string_view text) {
  write_out(text);
  flush_out();
}

void CheckpointOptions::add_to(CLI::App& app) {
  app.add_option("--checkpoint", checkpoint, "a checkpoint, or a run folder: its latest")->required();
  app.add_option("--tokenizer", tokenizer, "tokenizer.json; the run's own if it is not given");
}

std::string CheckpointOptions::tokenizer_file(const std::string& found, const Hparams& hparams) const {
  if (!tokenizer.empty()) return tokenizer;
  const auto in_run_folder = std::filesystem::path(found) / runtime::relative_run_folder(found) / "tokenizer.json";
  std::error_code ignored;
  return std::filesystem::exists(in_run_folder, ignored) ? in_run_folder.string() : hparams.data.tokenizer.value;
}

}  // namespace monomorph::train
