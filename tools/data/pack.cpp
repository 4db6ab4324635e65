#include "command.hpp"
#include "commands.hpp"

#include <monomorph/data/pack.hpp>
#include <monomorph/data/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Pack {
  static constexpr const char* name = "pack";
  static constexpr const char* description = "Turn text into token ids, packed as Modalities packs them";

  InputOption input;
  OutputOption output;
  std::string tokenizer_path;
  data::PackSettings settings;

  void add_options(CLI::App& command) {
    input.add_to(command, "JSON Lines (.jsonl), one document a line, or a text (.txt), one document");
    output.add_to(command, "packed file (.pbin) to write");
    command.add_option("--tokenizer", tokenizer_path, "tokenizer.json")->required();
    command.add_option("--eod", settings.end_of_document, "Token that ends each document")->capture_default_str();
    command.add_option("--field", settings.field, "Where a record has its text (JSON Pointer)")->capture_default_str();
  }

  void run(Console& console) const {
    output.check();
    const data::Tokenizer tokenizer(data::read_tokenizer_definition(tokenizer_path));
    const data::PackSummary summary = data::pack(input.path, tokenizer, output.path, settings);
    console.say(fmt::format("{}: {} documents ({} empty), {} tokens of {} bytes", output.path, summary.n_documents,
                            summary.n_empty_documents, summary.n_tokens, summary.bytes_per_token));
    console.summarise({{"output", output.path},
                       {"documents", summary.n_documents},
                       {"empty_documents", summary.n_empty_documents},
                       {"tokens", summary.n_tokens},
                       {"bytes_per_token", summary.bytes_per_token}});
  }
};

}  // namespace

void add_pack(CLI::App& program) { add_command<Pack>(program); }

}  // namespace monomorph::tools
