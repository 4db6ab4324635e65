#include <monomorph/train/run/folder/run_folder.hpp>

#include "train/describe/version.hpp"
#include "train/weights/companion_files.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/data/tokenizer/tokenizer_file.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/machine/compute_environment.hpp>
#include <monomorph/train/describe/describe.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>

namespace monomorph::train {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t largest_tokenizer = std::size_t{1} << 30;

using Json = nlohmann::ordered_json;

/// Null if the text is empty, as what it says is unknown or absent.
Json text_or_null(std::string_view text) { return text.empty() ? Json(nullptr) : Json(text); }

Json data_file(const std::string& path, const TrainFiles& files) {
  std::error_code ignored;
  const auto found = files.find(path);
  const std::string hash =
      found == files.end() ? "" : fmt::format("{:016x}", static_cast<std::uint64_t>(found->second));
  return {{"path", fs::absolute(path).string()},
          {"bytes", fs::file_size(path, ignored)},
          {"tokens_hash", text_or_null(hash)}};
}

Json program_json() {
  const Version built_from = version();
  return {{"version", built_from.number},
          {"commit", text_or_null(built_from.commit)},
          {"compiler", built_from.compiler}};
}

Json compute_json() {
  const ComputeEnvironment environment = compute_environment();
  Json libtorch = Json::array();
  std::istringstream lines(environment.libtorch);
  for (std::string line; std::getline(lines, line);) libtorch.push_back(line);
  return {{"threads", environment.threads}, {"instruction_set", environment.instruction_set}, {"libtorch", libtorch}};
}

Json data_json(const Hparams& hparams, const TrainFiles& files) {
  Json train = Json::array();
  for (const WeightedPath& file : hparams.data.train.value) train.push_back(data_file(file.path, files));
  Json evaluation;  // null without any, the file of the only one, or an object of names and files
  for (const auto& [name, path] : hparams.data.evaluation.value)
    (name.empty() ? evaluation : evaluation[name]) = data_file(path, files);
  return {{"train", train}, {"evaluation", evaluation}};
}

std::string run_json(const Hparams& hparams, const RecipeProgram& recipe,
                     const std::optional<std::string>& resumed_from, const TrainFiles& files, int ranks, int argc,
                     char** argv) {
  Json json{{"recipe", recipe.name},
            {"fingerprint", fingerprint_text(recipe.fingerprint)},
            {"monomorph", program_json()},
            {"command", std::vector<std::string>(argv, argv + argc)},
            {"working_directory", fs::current_path().string()},
            {"ranks", ranks},
            {"resumed_from", text_or_null(resumed_from.value_or(""))},
            {"compute", compute_json()},
            {"data", data_json(hparams, files)}};
  // A path may hold bytes that are not UTF-8: they are replaced, not refused.
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

bool lies_in(const std::optional<std::string>& checkpoint, const fs::path& folder) {
  std::error_code ignored;  // what doesn't exist lies in no folder
  return checkpoint && fs::equivalent(fs::canonical(*checkpoint, ignored).parent_path(), folder, ignored);
}

constexpr const char* last_written = "hparams.json";  // a folder with this file holds a run

bool holds_a_run(const std::string& path) {
  std::error_code ignored;  // what can't be looked at can't be created either
  return fs::exists(fs::path(path) / last_written, ignored);
}

std::string what_to_do(const Hparams& hparams) {
  const std::string another = "choose another run.output_dir, or ";
  if (runtime::has_checkpoints(checkpoint_folder(hparams))) return another + "go on with it by checkpoint.resume=auto";
  if (hparams.checkpoint.resume.value != "none") return another + "remove that folder, as its run saved no checkpoint";
  return another + "begin it again by checkpoint.resume=auto, as it saved no checkpoint";
}

}  // namespace

std::string checkpoint_folder(const Hparams& hparams) {
  return (fs::path(hparams.run.output_dir.value) / hparams.checkpoint.directory.value).string();
}

RunFolder::RunFolder(const Hparams& hparams, const RecipeProgram& recipe,
                     const std::optional<std::string>& resumed_from, const DescribedData& data, int ranks, int argc,
                     char** argv)
    : path_(hparams.run.output_dir.value), held_a_run_(holds_a_run(path_)) {
  texts_.emplace_back("recipe.txt", describe(recipe, ranks, micro_batch_of(hparams)));
  texts_.emplace_back("run.json", run_json(hparams, recipe, resumed_from, data.files, ranks, argc, argv));
  if (const std::string& tokenizer = hparams.data.tokenizer.value; !tokenizer.empty()) {
    const std::string_view name = tokenizer_names[data::is_sentence_piece_file(tokenizer) ? 1 : 0];
    texts_.emplace_back(name, read_text_file(tokenizer, largest_tokenizer));
    std::ranges::move(companions_of_tokenizer(tokenizer), std::back_inserter(texts_));
  }
  if (!data.chat_template.empty()) texts_.emplace_back("chat_template.jinja", data.chat_template);
  texts_.emplace_back(last_written, to_json(hparams));
  write();
}

void RunFolder::write() const {
  for (const auto& [name, text] : texts_) {
    if (const fs::path within = fs::path(name).parent_path(); !within.empty()) {
      std::error_code ignored;  // what can't be created can't be written into, which says why
      fs::create_directory(file(within.string()), ignored);  // never the run's own folder, which others may take away
    }
    write_text_file(file(name), text);
  }
}

bool RunFolder::is_complete() const {
  std::error_code ignored;  // what can't be looked at for a while is not gone
  return std::ranges::all_of(texts_, [&](const auto& written) {
    return fs::status(file(written.first), ignored).type() != fs::file_type::not_found;
  });
}

void RunFolder::check_free(const Hparams& hparams, const std::optional<std::string>& resumed_from) {
  const std::string &path = hparams.run.output_dir.value, checkpoints = checkpoint_folder(hparams);
  if (lies_in(resumed_from, checkpoints)) return;
  if (holds_a_run(path) && (hparams.checkpoint.resume.value != "auto" || resumed_from))
    throw UsageError("RUN-01", fmt::format("{} already holds a run; {}", in_quotes(path), what_to_do(hparams)));
  if (runtime::has_checkpoints(checkpoints))
    throw UsageError("RUN-01",
                     fmt::format("{} already holds the checkpoints of a run; choose another run.output_dir or "
                                 "checkpoint.directory, or go on with them by checkpoint.resume=auto",
                                 in_quotes(checkpoints)));
}

std::string RunFolder::file(std::string_view name) const { return (fs::path(path_) / name).string(); }

}  // namespace monomorph::train
