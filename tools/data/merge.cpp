#include "command.hpp"
#include "commands.hpp"

#include <monomorph/data/prepare/merge.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Merge {
  static constexpr const char* name = "merge";
  static constexpr const char* description = "Put the documents of several packed files, in order, into one";

  InputsOption inputs;
  OutputOption output;

  void add_options(CLI::App& command) {
    inputs.add_to(command, "packed files (.pbin) of one token width");
    output.add_to(command, "packed file (.pbin) to write");
  }

  void run(Console& console) const {
    output.check({output.path}, inputs.paths);
    const data::SetSize size = data::merge(inputs.paths, output.path, console.progress());
    console.say(fmt::format("{}: {} documents of {} files", output.path, size.n_documents, inputs.paths.size()));
    console.summarise({{"output", output.path},
                       {"inputs", inputs.paths.size()},
                       {"documents", size.n_documents},
                       {"data_bytes", size.n_bytes}});
  }
};

}  // namespace

void add_merge(CLI::App& program) { add_command<Merge>(program); }

}  // namespace monomorph::tools
