// monomorph-checkpoint: works on checkpoints without the program that wrote them, and without LibTorch.
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/interruptible_main.hpp>
#include <monomorph/core/process_setup.hpp>
#include <monomorph/core/report_failure.hpp>
#include <monomorph/core/truncation_guard.hpp>

#include <CLI/CLI.hpp>

#include <exception>

namespace {

using namespace monomorph;

/// The commands run while the command line is parsed.
int run(int argc, char** argv) try {
  int exit_code = static_cast<int>(ExitCode::success);
  CLI::App program{"Works on checkpoint folders.", "monomorph-checkpoint"};
  program.require_subcommand(1);
  tools::add_looking(program);
  tools::add_diff(program, exit_code);
  tools::add_average(program);
  tools::add_prune(program);
  tools::add_single_file(program);
  tools::add_recipe(program);
  set_up_process();
  parse_command_line(program, argc, argv, "CHECKPOINT-11");
  throw_if_truncated();
  flush_out();
  return exit_code;
} catch (const std::exception& failure) {
  return report_failure(failure);
}

}  // namespace

int main(int argc, char** argv) { return interruptible_main(run, argc, argv); }
