#include "command.hpp"
#include "commands.hpp"
#include "shuffle_options.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/data/prepare/split.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Split {
  static constexpr const char* name = "split";
  static constexpr const char* description = "Part a set into training and held-out documents";

  InputOption input;
  OutputOption train, held_out;
  SeedOption seed;
  data::SplitSettings settings;

  void add_options(CLI::App& command) {
    input.add_to(command, "packed file (.pbin) or JSON Lines (.jsonl)");
    command.add_option("--train", train.path, "file of the same kind to write: what is trained on")->required();
    command.add_option("--held-out", held_out.path, "file of the same kind to write: what is held out")->required();
    command.add_flag("--force", train.force, "Replace the outputs if they exist");
    CLI::App* sizes = command.add_option_group("size of what is held out");
    add_number(*sizes, "--fraction", settings.size.fraction, "So large a share of the documents, such as 0.01", {0, 1});
    add_number(*sizes, "--documents", settings.size.documents, "So many documents");
    add_number(*sizes, "--bytes", settings.size.bytes,
               "As few documents as have so many bytes (of tokens, or of text)");
    sizes->require_option(1);
    command.add_flag("--tail", settings.tail, "Hold the last documents out, instead of drawing them by --seed");
    seed.add_to(command);
  }

  void run(Console& console) {
    train.check({train.path, held_out.path}, {input.path});
    settings.seed = seed.value;
    const data::SplitSizes sizes = data::split(input.path, train.path, held_out.path, settings, console.progress());
    console.say(fmt::format("{}: {} documents", train.path, sizes.train.n_documents));
    console.say(fmt::format("{}: {} documents, held out", held_out.path, sizes.held_out.n_documents));
    console.summarise(
        {{"train",
          {{"output", train.path}, {"documents", sizes.train.n_documents}, {"data_bytes", sizes.train.n_bytes}}},
         {"held_out",
          {{"output", held_out.path},
           {"documents", sizes.held_out.n_documents},
           {"data_bytes", sizes.held_out.n_bytes}}}});
  }
};

}  // namespace

void add_split(CLI::App& program) { add_command<Split>(program); }

}  // namespace monomorph::tools
