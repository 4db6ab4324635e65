#pragma once
#include <monomorph/core/standard_streams.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace CLI {
class App;
}

namespace monomorph::tools {

/// One function for each command, or for those of one kind; each lives in the file of its name. The commands run while
/// the command line is parsed.
void add_looking(CLI::App& program);  ///< inspect, digest, verify
void add_diff(CLI::App& program, int& exit_code);
void add_average(CLI::App& program);
void add_prune(CLI::App& program);
void add_single_file(CLI::App& program);  ///< consolidate, to-torch
void add_recipe(CLI::App& program);

/// The checkpoint that a command reads.
struct CheckpointOption {
  std::string path;
  std::optional<std::int64_t> step;
  void add_to(CLI::App& command);
  /// @throws as runtime::find_checkpoint
  std::string find() const;
};

template <class... Arguments> void say(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_out(fmt::format(format, std::forward<Arguments>(arguments)...));
}

}  // namespace monomorph::tools
