#include "command.hpp"
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/data/formats/convert.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>

namespace monomorph::tools {
namespace {

struct Convert {
  static constexpr const char* name = "convert";
  static constexpr const char* description = "Write token ids in another width or in the format of another program";

  InputOption input;
  OutputOption output;
  std::string from, to;
  data::ConvertSettings settings;

  void add_options(CLI::App& command) {
    input.add_to(command, ".pbin, or the .bin of nanoGPT, llm.c or Megatron (its .idx beside it)");
    output.add_to(command, "file to write; Megatron's .idx is written beside it");
    command.add_option("--from", from, "Format of the input: pbin, nanogpt, llm.c or megatron; else it is recognised");
    command.add_option("--to", to, "Format of the output; needed unless its name ends in .pbin");
    add_choice(command, "--token-bytes", settings.bytes_per_token, "Bytes per token (default: as the input has)",
               {{"1", 1}, {"2", 2}, {"4", 4}});
    add_number(command, "--eod-id", settings.end_of_document,
               "From nanogpt and llm.c: the id that ends each document (else all is one document)");
    add_number(command, "--bos-id", settings.begin_of_document,
               "From nanogpt and llm.c: the id that begins each document");
  }

  void run(Console& console) {
    if (!from.empty()) settings.from = data::token_format(from);
    if (!to.empty()) settings.to = data::token_format(to);
    const bool writes_index = settings.to == data::TokenFormat::megatron;
    output.check({output.path, writes_index ? data::megatron_index_path(output.path) : ""}, files_of_input());
    const data::ConvertSummary summary = data::convert(input.path, output.path, settings, console.progress());
    console.say(fmt::format("{}: {} documents, {} tokens of {} bytes, from {} to {}", output.path, summary.n_documents,
                            summary.n_tokens, summary.bytes_per_token, data::name_of(summary.from),
                            data::name_of(summary.to)));
    console.summarise({{"output", output.path},
                       {"from", data::name_of(summary.from)},
                       {"to", data::name_of(summary.to)},
                       {"documents", summary.n_documents},
                       {"tokens", summary.n_tokens},
                       {"bytes_per_token", summary.bytes_per_token}});
  }

 private:
  std::vector<std::string> files_of_input() const {
    const bool may_be_megatron = settings.from ? *settings.from == data::TokenFormat::megatron
                                               : std::filesystem::path(input.path).extension() != ".pbin";
    return {input.path, may_be_megatron ? data::megatron_index_path(input.path) : ""};
  }
};

}  // namespace

void add_convert(CLI::App& program) { add_command<Convert>(program); }

}  // namespace monomorph::tools
