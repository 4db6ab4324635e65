#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>

#include <CLI/CLI.hpp>

namespace monomorph::tools {

void CheckpointOption::add_to(CLI::App& command) {
  command.add_option("DIR", path, "A checkpoint, a folder of them or a run folder: then the latest one")->required();
  add_number(command, "--step", step, "Of a folder of checkpoints or a run folder: that of this step");
}

std::string CheckpointOption::find() const { return runtime::find_checkpoint(path, step); }

}  // namespace monomorph::tools
