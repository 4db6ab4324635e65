#include "command.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <algorithm>
#include <filesystem>
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

void ThreadsOption::add_to(CLI::App& command) {
  constexpr int most_threads = 1024;
  count = static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, static_cast<unsigned>(most_threads)));
  command.add_option("--threads", count, "Threads that work")
      ->check(CLI::Range(1, most_threads))
      ->capture_default_str();
}

}  // namespace monomorph::tools
