#include "command.hpp"
#include "commands.hpp"

#include <monomorph/data/prepare/index_json_lines.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Index {
  static constexpr const char* name = "index";
  static constexpr const char* description = "Note where the lines of a JSON Lines file are (as Modalities does)";

  InputOption input;
  OutputOption output;
  OnErrorOption on_error;
  ThreadsOption threads;

  void add_options(CLI::App& command) {
    input.add_to(command, "JSON Lines, one document a line");
    output.add_to(command, "index (.idx) to write");
    on_error.add_to(command);
    threads.add_to(command);
  }

  void run(Console& console) const {
    output.check({output.path, on_error.written_report(output)}, {input.path});
    const data::IndexSummary summary = data::index_json_lines(input.path, output.path,
                                                              {.on_error = on_error.value,
                                                               .report = on_error.report_path(output),
                                                               .n_threads = threads.count,
                                                               .progress = console.progress()});
    console.say(fmt::format("{}: {} documents", output.path, summary.n_documents));
    on_error.tell(console, output, summary.n_skipped);
    console.summarise({{"output", output.path},
                       {"documents", summary.n_documents},
                       {"skipped", summary.n_skipped},
                       {"input_bytes", summary.input_bytes}});
  }
};

}  // namespace

void add_index(CLI::App& program) { add_command<Index>(program); }

}  // namespace monomorph::tools
