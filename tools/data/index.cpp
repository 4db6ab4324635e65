#include "command.hpp"
#include "commands.hpp"

#include <monomorph/data/pack.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Index {
  static constexpr const char* name = "index";
  static constexpr const char* description = "Note where the lines of a JSON Lines file are (as Modalities does)";

  InputOption input;
  OutputOption output;

  void add_options(CLI::App& command) {
    input.add_to(command, "JSON Lines, one document a line");
    output.add_to(command, "index (.idx) to write");
  }

  void run(Console& console) const {
    output.check();
    const std::int64_t n_documents = data::index_json_lines(input.path, output.path);
    console.say(fmt::format("{}: {} documents", output.path, n_documents));
    console.summarise({{"output", output.path}, {"documents", n_documents}});
  }
};

}  // namespace

void add_index(CLI::App& program) { add_command<Index>(program); }

}  // namespace monomorph::tools
