#include "command.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/pack.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <thread>

namespace monomorph::tools {

void InputOption::add_to(CLI::App& command, const std::string& what) {
  command.add_option("input", path, what)->required();
}

void InputsOption::add_to(CLI::App& command, const std::string& what) {
  command.add_option("inputs", paths, what)->required();
}

void OutputOption::add_to(CLI::App& command, const std::string& what) {
  command.add_option("-o,--output", path, what)->required();
  command.add_flag("--force", force, "Replace the output if it exists");
}

void OutputOption::check(const std::string& other_path) const {
  std::error_code unreadable;  // writing will say why
  if (!force && std::filesystem::exists(std::filesystem::symlink_status(other_path, unreadable))) {
    throw UsageError("[DATA-01] " + in_quotes(other_path) + " exists; give another --output, or --force to replace it");
  }
}

void OnErrorOption::add_to(CLI::App& command) {
  const std::map<std::string, data::OnError> values{{"stop", data::OnError::stop}, {"skip", data::OnError::skip}};
  command
      .add_option("--on-error", value,
                  "At a line that is no document: stop, or skip it and list it in a report (default: stop)")
      ->transform(CLI::CheckedTransformer(values));
  command.add_option("--report", report,
                     "Where skipped lines are listed (default: the output's name and .skipped.jsonl)");
}

std::string OnErrorOption::report_path(const OutputOption& output) const {
  return report.empty() ? data::default_report_path(output.path) : report;
}

void OnErrorOption::check(const OutputOption& output) const {
  if (value == data::OnError::skip) output.check(report_path(output));
}

void OnErrorOption::tell(Console& console, const OutputOption& output, std::int64_t n_skipped) const {
  if (n_skipped > 0) console.say(fmt::format("{}: {} lines were skipped", report_path(output), n_skipped));
}

void ThreadsOption::add_to(CLI::App& command) {
  constexpr int most_threads = 1024;
  count = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, static_cast<unsigned>(most_threads)));
  command.add_option("--threads", count, "Threads that work")
      ->check(CLI::Range(1, most_threads))
      ->capture_default_str();
}

}  // namespace monomorph::tools
