// monomorph-data: from text to tokens on the disk.
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/interruptible_main.hpp>
#include <monomorph/core/process_setup.hpp>
#include <monomorph/core/report_failure.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/core/truncation_guard.hpp>

#include <CLI/CLI.hpp>

#include <malloc.h>

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
  tools::add_pairs(program);
  tools::add_preferences(program);
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
    throw UsageError("DATA-10", "there is no command " + in_quotes(argv[1]) + "; see monomorph-data --help");
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

/// The commands run while the command line is parsed.
int run(int argc, char** argv) {
  CLI::App program("monomorph-data: from text to tokens on the disk", "monomorph-data");
  add_commands(program);
  try {
    set_up_process();
    check_command(program, argc, argv);
    parse_command_line(program, argc, argv, "DATA-10");
    throw_if_truncated();
    flush_out();
    return static_cast<int>(ExitCode::success);
  } catch (const Error& error) {
    return report_failure(cause_of(error));
  } catch (const std::bad_alloc&) {
    return report_failure(Error("DATA-12", "there is not enough memory"));
  } catch (const std::exception& error) {
    return report_failure(error);
  }
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
  return interruptible_main(run, argc, argv);
}
