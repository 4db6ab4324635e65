#include "command.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/prepare/pack.hpp>
#include <monomorph/data/records/input_list.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <thread>

namespace monomorph::tools {
namespace {

namespace fs = std::filesystem;

/// Where a file is, whatever way its path is written; nothing for a device or a pipe, which can be shared.
std::optional<fs::path> place_of_file(const std::string& path) {
  std::error_code unreadable;  // reading or writing will say why
  if (path.empty() || fs::is_other(fs::status(path, unreadable))) return std::nullopt;
  return fs::weakly_canonical(fs::absolute(path, unreadable), unreadable);
}

}  // namespace

void InputOption::add_to(CLI::App& command, const std::string& what) {
  command.add_option("input", path, what)->required();
}

void InputsOption::add_to(CLI::App& command, const std::string& what) {
  command.add_option("inputs", paths, what)->required();
}

void InputsOption::add_records_to(CLI::App& command, const std::string& record) {
  add_to(command,
         fmt::format("JSON Lines or Parquet, in each line or row one {}; several files, or .gz or .zst of them; "
                     "a pattern (*, ?, [a-z]) stands for its files",
                     record));
}

std::vector<std::string> InputsOption::files() const { return data::expand_inputs(paths); }

std::vector<std::string> with_file(std::vector<std::string> files, const std::string& file) {
  files.push_back(file);
  return files;
}

void RecordsOption::add_to(CLI::App& command) {
  command.add_option("--records", path, "Of an index: its JSON Lines file (default: of the same name, .jsonl)");
}

std::string RecordsOption::of_index(const InputOption& index) const {
  return path.empty() ? fs::path(index.path).replace_extension(".jsonl").string() : path;
}

void OutputOption::add_to(CLI::App& command, const std::string& what) {
  command.add_option("-o,--output", path, what)->required();
  command.add_flag("--force", force, "Replace the output if it exists");
}

void OutputOption::check(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) const {
  refuse_shared_files(outputs, inputs);
  if (force) return;
  for (const std::string& output : outputs) {
    std::error_code unreadable;  // writing will say why
    if (!fs::exists(fs::symlink_status(output, unreadable))) continue;
    throw UsageError("DATA-01", in_quotes(output) + " exists; give another --output, or --force to replace it");
  }
}

void refuse_shared_files(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) {
  std::map<fs::path, std::string> written;
  for (const std::string& output : outputs) {
    if (const auto place = place_of_file(output)) {
      const auto [other, is_new] = written.emplace(*place, output);
      if (is_new) continue;
      throw UsageError("DATA-10", fmt::format("{} and {} are the same file, and both would be written; name two",
                                              in_quotes(other->second), in_quotes(output)));
    }
  }
  for (const std::string& input : inputs) {
    const auto place = place_of_file(input);
    if (!place || !written.contains(*place)) continue;
    throw UsageError("DATA-10", fmt::format("{} is read and would be replaced by what is written; name another output",
                                            in_quotes(input)));
  }
}

void OnErrorOption::add_to(CLI::App& command) {
  add_choice(command, "--on-error", value, "At a line that is no document: stop, or skip it and list it in a report",
             {{"stop", data::OnError::stop}, {"skip", data::OnError::skip}})
      ->capture_default_str();
  command.add_option("--report", report,
                     "Where skipped lines are listed (default: the output's name and .skipped.jsonl)");
}

std::string OnErrorOption::report_path(const OutputOption& output) const {
  return report.empty() ? data::default_report_path(output.path) : report;
}

std::string OnErrorOption::written_report(const OutputOption& output) const {
  return value == data::OnError::skip ? report_path(output) : "";
}

void OnErrorOption::tell(Console& console, const OutputOption& output, std::int64_t n_skipped) const {
  if (n_skipped > 0) console.say(fmt::format("{}: {} lines were skipped", report_path(output), n_skipped));
}

void ThreadsOption::add_to(CLI::App& command) {
  constexpr int most_threads = 1024;
  count = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, static_cast<unsigned>(most_threads)));
  add_number(command, "--threads", count, "Threads that work", {1, most_threads})->capture_default_str();
}

}  // namespace monomorph::tools
