#include "command.hpp"
#include "commands.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/command_line.hpp>
#include <monomorph/data/text/word_pattern.hpp>
#include <monomorph/data/training/bpe_trainer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace monomorph::tools {
namespace {

struct TrainTokenizer {
  static constexpr const char* name = "train-tokenizer";
  static constexpr const char* description =
      "Learn a byte-level BPE from texts, with the merges that the Hugging Face trainer would learn from them";

  InputsOption inputs;
  OutputOption output;
  ThreadsOption threads;
  std::string field = "/text", pattern;
  data::WordPattern named_pattern = data::WordPattern::gpt2;
  data::BpeTrainerSettings settings;

  void add_options(CLI::App& command) {
    inputs.add_to(command,
                  "JSON Lines (.jsonl) or Parquet, a text in each record, or texts in UTF-8; also .gz or .zst of them");
    output.add_to(command, "tokenizer.json to write");
    add_number(command, "--vocab-size", settings.vocab_size, "Tokens, the 256 bytes and special tokens included")
        ->required();
    command.add_option("--special", settings.special_tokens, "A special token; may be given several times")
        ->capture_default_str();
    auto* named = add_choice(command, "--pre-tokenizer", named_pattern, "Cut texts into words as this model does",
                             {{"gpt2", data::WordPattern::gpt2},
                              {"gpt4", data::WordPattern::cl100k},
                              {"gpt4o", data::WordPattern::o200k},
                              {"llama3", data::WordPattern::cl100k},
                              {"qwen2", data::WordPattern::qwen2},
                              {"mistral", data::WordPattern::tekken}})
                      ->capture_default_str();
    command.add_option("--pattern", pattern, "Cut texts into words by this regular expression")->excludes(named);
    command.add_option("--field", field, "Where a record has its text (JSON Pointer)")->capture_default_str();
    threads.add_to(command);
    add_number(command, "--min-frequency", settings.min_frequency, "Pairs rarer than this stay apart")
        ->capture_default_str();
  }

  void run(Console& console) const {
    const std::vector<std::string> files = inputs.files();
    output.check({output.path}, files);
    data::BpeTrainerSettings all = settings;
    all.pre_tokenizers = data::byte_level_words(pattern.empty() ? regex_of(named_pattern) : std::string_view(pattern));
    const auto definition =
        data::train_tokenizer({files, field, threads.count, console.progress(), console.progress("merges")}, all);
    write_text_file(output.path, data::to_tokenizer_json(definition));
    const auto n_tokens = static_cast<std::int64_t>(definition.vocabulary.size());
    const std::size_t n_merges = std::get<data::tokenizer_models::Bpe>(definition.model).merges.size();
    console.say(fmt::format("{}: {} tokens, {} merges", output.path, n_tokens, n_merges));
    if (n_tokens < settings.vocab_size) {
      console.say(fmt::format("note: fewer than the {} asked for, as no more pairs appear {} times or more",
                              settings.vocab_size, settings.min_frequency));
    }
    console.summarise({{"output", output.path}, {"tokens", n_tokens}, {"merges", n_merges}});
  }
};

}  // namespace

void add_train_tokenizer(CLI::App& program) { add_command<TrainTokenizer>(program); }

}  // namespace monomorph::tools
