#include "command.hpp"
#include "commands.hpp"
#include "template_option.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/data/chat/preference_pack.hpp>
#include <monomorph/data/formats/loss_mask.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct Preferences {
  static constexpr const char* name = "preferences";
  static constexpr const char* description =
      "Pack pairs of answers of which one was chosen, to train a model to prefer what was chosen";

  InputsOption inputs;
  OutputOption output;
  OnErrorOption on_error;
  ThreadsOption threads;
  TemplateOption chat_template;
  std::string tokenizer_path;
  data::PreferencePackSettings settings;

  void add_options(CLI::App& command) {
    inputs.add_records_to(command, "pair: what was asked, the chosen and the rejected answer");
    output.add_to(command, "packed file (.pbin) to write; its loss mask (.mask) goes beside it");
    command.add_option("--tokenizer", tokenizer_path, "tokenizer.json or .model")->required();
    chat_template.add_to(command, "records have plain texts");
    add_number(command, "--sequence-length", settings.sequence_length,
               "Tokens of a sample, which holds both answers, as the run that reads it has")
        ->required();
    const auto add_field = [&](const char* option, std::size_t i, const char* of) {
      command.add_option(option, settings.fields[i], of)->capture_default_str();
    };
    add_field("--prompt", 0,
              "Where a record has what was asked (JSON Pointer); if there is nothing, it is what both "
              "answers begin with");
    add_field("--chosen", 1, "Where a record has the chosen answer (JSON Pointer)");
    add_field("--rejected", 2, "Where a record has the rejected answer (JSON Pointer)");
    command.add_option("--eod", settings.end_of_text, "Token that ends an answer in plain text")->capture_default_str();
    add_choice(command, "--on-too-long", settings.too_long,
               "Answers longer than a sample: truncate (ends are lost), skip or error",
               {{"truncate", data::TooLong::truncate}, {"skip", data::TooLong::skip}, {"error", data::TooLong::refuse}})
        ->capture_default_str();
    on_error.add_to(command);
    threads.add_to(command);
  }

  void run(Console& console) const {
    const std::string mask_path = data::loss_mask_path(output.path);
    const std::vector<std::string> files = inputs.files();
    output.check({output.path, mask_path, on_error.written_report(output)}, with_file(files, tokenizer_path));
    data::PreferencePackSettings chosen = settings;
    chosen.chat_template = chat_template.choice();
    chosen.now = chat_template.now();
    chosen.on_error = on_error.value;
    chosen.report = on_error.report_path(output);
    chosen.n_threads = threads.count;
    chosen.progress = console.progress();
    const auto tokenizer = data::read_tokenizer(tokenizer_path);
    const data::PreferencePackSummary summary = data::pack_preferences(files, *tokenizer, output.path, chosen);
    say(console, summary);
    console.summarise({{"output", output.path},
                       {"mask", mask_path},
                       {"records", summary.n_records},
                       {"pairs", summary.n_pairs},
                       {"truncated", summary.n_truncated},
                       {"too_long", summary.n_too_long},
                       {"without_counted_tokens", summary.n_without_counted},
                       {"skipped", summary.n_skipped},
                       {"sequence_length", settings.sequence_length},
                       {"fill", summary.fill()},
                       {"tokens", summary.n_tokens},
                       {"sequence_tokens", summary.n_sequence_tokens},
                       {"counted_tokens", summary.n_counted},
                       {"input_bytes", summary.input_bytes}});
  }

  void say(Console& console, const data::PreferencePackSummary& summary) const {
    console.say(fmt::format("{}: {} pairs in samples of {} tokens, {:.1f} % full; {} tokens count", output.path,
                            summary.n_pairs, settings.sequence_length, 100 * summary.fill(), summary.n_counted));
    const auto note = [&](std::int64_t n, const char* what) {
      if (n > 0) console.say(fmt::format("note: {} of {} pairs {}", n, summary.n_records, what));
    };
    note(summary.n_truncated, "are longer than a sample and lost an end");
    note(summary.n_too_long, "are longer than a sample and were left out");
    note(summary.n_without_counted, "were left out, as nothing of an answer is left in a sample");
    on_error.tell(console, output, summary.n_skipped);
  }
};

}  // namespace

void add_preferences(CLI::App& program) { add_command<Preferences>(program); }

}  // namespace monomorph::tools
