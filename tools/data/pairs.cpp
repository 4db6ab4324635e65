#include "command.hpp"
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/prepare/pack_texts.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Pairs {
  static constexpr const char* name = "pairs";
  static constexpr const char* description = "Pack pairs of texts, one pair a sample, to train and test encoders";

  InputsOption inputs;
  OutputOption output;
  OnErrorOption on_error;
  ThreadsOption threads;
  std::string tokenizer_path;
  std::vector<std::string> fields;
  data::PackTextsSettings settings;

  void add_options(CLI::App& command) {
    inputs.add_records_to(command, "pair of texts");
    output.add_to(command, "packed file (.pbin) to write; a mask (.mask) goes beside it");
    command.add_option("--tokenizer", tokenizer_path, "tokenizer.json or .model")->required();
    add_number(command, "--sequence-length", settings.sequence_length,
               "Tokens of a sample, which holds both texts, as the run that reads it has")
        ->required();
    command
        .add_option("--field", fields,
                    "Where a record has a text (JSON Pointer), given once for each in their order; unless given, "
                    "/query and /positive")
        ->allow_extra_args(false);
    on_error.add_to(command);
    threads.add_to(command);
  }

  void run(Console& console) const {
    const std::string mask_path = data::loss_mask_path(output.path);
    const std::vector<std::string> files = inputs.files();
    output.check({output.path, mask_path, on_error.written_report(output)}, with_file(files, tokenizer_path));
    data::PackTextsSettings chosen = settings;
    if (!fields.empty()) chosen.fields = fields;
    chosen.on_error = on_error.value;
    chosen.report = on_error.report_path(output);
    chosen.n_threads = threads.count;
    chosen.progress = console.progress();
    const auto tokenizer = data::read_tokenizer(tokenizer_path);
    const data::PackTextsSummary summary = data::pack_texts(files, *tokenizer, output.path, chosen);
    console.say(fmt::format("{}: {} samples of {} texts in {} tokens, {:.1f} % full", output.path, summary.n_samples,
                            chosen.fields.size(), settings.sequence_length, 100 * summary.fill()));
    if (summary.n_cut > 0)
      console.say(
          fmt::format("note: {} of {} samples have a text that lost its end", summary.n_cut, summary.n_samples));
    on_error.tell(console, output, summary.n_skipped);
    console.summarise({{"output", output.path},
                       {"mask", mask_path},
                       {"records", summary.n_records},
                       {"skipped", summary.n_skipped},
                       {"samples", summary.n_samples},
                       {"cut", summary.n_cut},
                       {"sequence_length", settings.sequence_length},
                       {"fill", summary.fill()},
                       {"tokens", summary.n_tokens},
                       {"text_tokens", summary.n_text_tokens},
                       {"input_bytes", summary.input_bytes}});
  }
};

}  // namespace

void add_pairs(CLI::App& program) { add_command<Pairs>(program); }

}  // namespace monomorph::tools
