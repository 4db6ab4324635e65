// monomorph-data: from text to tokens on the disk.
#include "commands.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/interruption.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <new>

namespace {

using namespace monomorph;

void add_commands(CLI::App& program) {
  program.require_subcommand(1);
  tools::add_train_tokenizer(program);
  tools::add_index(program);
  tools::add_pack(program);
  tools::add_chat(program);
}

/// Results that nobody could read are no success.
void flush_standard_output() {
  if (std::fflush(stdout) != 0) throw_file_error("write", "standard output", errno);
}

int run(int argc, char** argv) {
  CLI::App program("monomorph-data: from text to tokens on the disk");
  add_commands(program);
  try {
    program.parse(argc, argv);
    flush_standard_output();
    return static_cast<int>(ExitCode::success);
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: [DATA-10] {}; see monomorph-data --help\n", error.what());
    return static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: [DATA-12] there is not enough memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return static_cast<int>(ExitCode::failure);
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  {
    const InterruptionGuard guard;
    exit_code = run(argc, argv);
  }
  // What asked us to stop learns from the exit status that we did.
  if (exit_code != 0 && interrupting_signal() != 0) std::raise(interrupting_signal());
  return exit_code;
}
