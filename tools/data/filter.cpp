#include "command.hpp"
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/data/prepare/filter.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Filter {
  static constexpr const char* name = "filter";
  static constexpr const char* description = "Keep the documents of a set that meet conditions, in order";

  InputOption input;
  OutputOption output;
  data::FilterSettings settings;

  void add_options(CLI::App& command) {
    input.add_to(command, "packed file (.pbin) or JSON Lines (.jsonl)");
    output.add_to(command, "file of the same kind to write");
    add_number(command, "--min-tokens", settings.min_tokens, "Of a packed file: documents of at least so many tokens");
    add_number(command, "--max-tokens", settings.max_tokens, "Of a packed file: documents of at most so many tokens");
    command.add_option("--where", settings.where,
                       "Documents whose record meets a condition, such as '/language == \"en\" && length(/text) > 99'");
    command.add_option("--records", settings.records,
                       "The JSON Lines file that the packed file was made from, for --where to look at");
    command.add_option("--skipped", settings.skipped,
                       "The report of the lines of --records that packing skipped, if it did");
  }

  void run(Console& console) const {
    output.check({output.path}, {input.path, settings.records, settings.skipped});
    const data::FilterSummary summary = data::filter(input.path, output.path, settings, console.progress());
    console.say(fmt::format("{}: {} of {} documents", output.path, summary.kept.n_documents, summary.read.n_documents));
    console.summarise({{"output", output.path},
                       {"documents_read", summary.read.n_documents},
                       {"documents", summary.kept.n_documents},
                       {"data_bytes_read", summary.read.n_bytes},
                       {"data_bytes", summary.kept.n_bytes}});
  }
};

}  // namespace

void add_filter(CLI::App& program) { add_command<Filter>(program); }

}  // namespace monomorph::tools
