#pragma once
// The frame of the commands. A command is a struct with its name, its description, its options and what it does:
//
//   struct Index {
//     static constexpr const char* name = "index";
//     static constexpr const char* description = "...";
//     InputOption input;
//     OutputOption output;
//     void add_options(CLI::App& command);
//     void run(Console& console) const;
//   };
//   void add_index(CLI::App& program) { add_command<Index>(program); }
//
// run() throws what goes wrong; main turns it into a line on standard error and the exit code.
#include "console.hpp"

#include <monomorph/data/records/on_error.hpp>

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <vector>

namespace monomorph::tools {

/// The file that a command reads.
struct InputOption {
  std::string path;
  void add_to(CLI::App& command, const std::string& what);
};

/// One file or more.
struct InputsOption {
  std::vector<std::string> paths;
  void add_to(CLI::App& command, const std::string& what);
  /// The same of files of records.   @param record what a line or row has
  void add_records_to(CLI::App& command, const std::string& record);
  /// With patterns replaced by what they stand for, and each file once.   @throws as data::expand_inputs
  std::vector<std::string> files() const;
};

/// The files that a command reads, and one more.
std::vector<std::string> with_file(std::vector<std::string> files, const std::string& file);

/// The JSON Lines file of an index.
struct RecordsOption {
  std::string path;
  void add_to(CLI::App& command);
  std::string of_index(const InputOption& index) const;
};

/// The file that a command writes, and whether it may exist.
struct OutputOption {
  std::string path;
  bool force = false;
  void add_to(CLI::App& command, const std::string& what);
  /// That a command that reads `inputs` may write `outputs`. Paths may be empty: there is no such file.
  /// @throws [DATA-01] if one of these exists and need not; as refuse_shared_files
  void check(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs) const;
};

/// @throws [DATA-10] if an output is an input or another output, whatever way its path is written
void refuse_shared_files(const std::vector<std::string>& outputs, const std::vector<std::string>& inputs);

/// What happens at a line that is no document.
struct OnErrorOption {
  data::OnError value = data::OnError::stop;
  std::string report;
  void add_to(CLI::App& command);
  std::string report_path(const OutputOption& output) const;
  /// The same if there is to be a report, otherwise empty.
  std::string written_report(const OutputOption& output) const;
  /// Says how many lines were skipped, if any.
  void tell(Console& console, const OutputOption& output, std::int64_t n_skipped) const;
};

/// How many threads work; by default as many as the process may use cores.
struct ThreadsOption {
  int count = 1;
  void add_to(CLI::App& command);
};

/// Adds a command with `--json`.
template <class Command> void add_command(CLI::App& program) {
  auto command = std::make_shared<Command>();
  auto json = std::make_shared<bool>(false);
  CLI::App* options = program.add_subcommand(Command::name, Command::description);
  command->add_options(*options);
  options->add_flag("--json", *json, "Print one JSON object with the results instead of text");
  options->callback([command, json] {
    Console console(Command::name, *json);
    command->run(console);
  });
}

}  // namespace monomorph::tools
