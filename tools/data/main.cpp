// monomorph-data: from text to tokens on the disk.
#include "commands.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/core/truncation_guard.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <malloc.h>

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
  tools::add_merge(program);
  tools::add_shuffle(program);
  tools::add_chunk(program);
  tools::add_filter(program);
  tools::add_split(program);
  tools::add_convert(program);
  tools::add_inspect(program);
  tools::add_verify(program);
}

/// CLI11 would only say that a command is needed.
void check_command(const CLI::App& program, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const auto is_named = [&](const CLI::App* command) { return command->check_name(argv[1]); };
  if (program.get_subcommands(is_named).empty())
    throw UsageError("[DATA-10] there is no command " + in_quotes(argv[1]) + "; see monomorph-data --help");
}

/// Its name and a space; nothing where the command line is wrong before it.
std::string parsed_command(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? "" : commands.front()->get_name() + " ";
}

/// Results that nobody could read are no success.
void flush_standard_output() {
  if (std::fflush(stdout) != 0) throw_file_error("write", "standard output", errno);
}

/// A file that was cut short while it was read looks as if it had always been damaged.
Error cause_of(const Error& error) {
  try {
    throw_if_truncated();
    return error;
  } catch (const Error& truncation) {
    return truncation;
  }
}

int run(int argc, char** argv) {
  CLI::App program("monomorph-data: from text to tokens on the disk");
  add_commands(program);
  try {
    check_command(program, argc, argv);
    program.parse(argc, argv);
    throw_if_truncated();
    flush_standard_output();
    return static_cast<int>(ExitCode::success);
  } catch (const CLI::CallForHelp& help) {
    return program.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return program.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: [DATA-10] {}; see monomorph-data {}--help\n", error.what(), parsed_command(program));
    return static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    const Error cause = cause_of(error);
    fmt::print(stderr, "error: {}\n", cause.what());
    return static_cast<int>(cause.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: [DATA-12] there is not enough memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return static_cast<int>(ExitCode::failure);
}

}  // namespace

/// Has large buffers go back to the system when they are freed. By default each thread's heap may keep some tens of MB
/// of them, which would multiply the memory of long documents by the number of threads.
void return_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char** argv) {
  return_freed_memory();
  int exit_code = 0;
  {
    const InterruptionGuard interruption;
    const TruncationGuard truncation;
    exit_code = run(argc, argv);
  }
  // What asked us to stop learns from the exit status that we did.
  if (exit_code != 0 && interrupting_signal() != 0) std::raise(interrupting_signal());
  return exit_code;
}
