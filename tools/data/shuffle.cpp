#include "command.hpp"
#include "commands.hpp"
#include "shuffle_options.hpp"

#include <monomorph/data/prepare/shuffle.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Shuffle {
  static constexpr const char* name = "shuffle";
  static constexpr const char* description = "Put the documents of a set in a random order";

  InputOption input;
  OutputOption output;
  ShuffleOptions options;

  void add_options(CLI::App& command) {
    input.add_to(command, "packed file (.pbin) or JSON Lines (.jsonl)");
    output.add_to(command, "file of the same kind to write");
    options.add_to(command);
  }

  void run(Console& console) const {
    output.check({output.path}, {input.path});
    const data::SetSize size = data::shuffle(input.path, output.path, options.settings(), console.progress());
    console.say(fmt::format("{}: {} documents", output.path, size.n_documents));
    console.summarise({{"output", output.path},
                       {"documents", size.n_documents},
                       {"data_bytes", size.n_bytes},
                       {"seed", options.seed.value}});
  }
};

}  // namespace

void add_shuffle(CLI::App& program) { add_command<Shuffle>(program); }

}  // namespace monomorph::tools
