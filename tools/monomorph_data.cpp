// monomorph-data: from text to tokens on the disk.
#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/bpe_trainer.hpp>
#include <monomorph/data/interruption.hpp>
#include <monomorph/data/pack.hpp>
#include <monomorph/data/tokenizer.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>

namespace {

using namespace monomorph;

/// What every command has: an input, an output, and whether the output may exist.
struct Files {
  std::string input, output;
  bool force = false;

  void add_to(CLI::App& command, const std::string& input_text, const std::string& output_text) {
    command.add_option("input", input, input_text)->required();
    command.add_option("-o,--output", output, output_text)->required();
    command.add_flag("--force", force, "Replace the output if it exists");
  }

  void check_output() const {
    if (!force && std::filesystem::exists(std::filesystem::symlink_status(output))) {
      throw UsageError("[DATA-01] " + in_quotes(output) + " exists; give another --output, or --force to replace it");
    }
  }
};

void add_train_tokenizer(CLI::App& app) {
  struct Options {
    Files files;
    data::BpeTrainerSettings settings;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("train-tokenizer",
                                         "Learn a byte-level BPE from a text, with the merges that the "
                                         "Hugging Face trainer would learn from the same file");
  options->files.add_to(*command, "Text, UTF-8", "tokenizer.json to write");
  command->add_option("--vocab-size", options->settings.vocab_size, "Tokens, the 256 bytes and special tokens included")
      ->required();
  command->add_option("--special", options->settings.special_tokens, "A special token; may be given several times")
      ->capture_default_str();
  command->add_option("--min-frequency", options->settings.min_frequency, "Pairs rarer than this stay apart")
      ->capture_default_str();
  command->callback([options] {
    options->files.check_output();
    const auto definition = data::train_tokenizer(options->files.input, options->settings);
    write_text_file(options->files.output, data::to_tokenizer_json(definition));
    const auto n_tokens = static_cast<std::int64_t>(definition.vocabulary.size());
    fmt::print("{}: {} tokens, {} merges\n", options->files.output, n_tokens, std::get<data::tokenizer_models::Bpe>(definition.model).merges.size());
    if (n_tokens < options->settings.vocab_size) {
      fmt::print("note: fewer than the {} asked for, as no more pairs appear {} times or more\n",
                 options->settings.vocab_size, options->settings.min_frequency);
    }
  });
}

void add_index(CLI::App& app) {
  auto files = std::make_shared<Files>();
  CLI::App* command = app.add_subcommand("index", "Note where the lines of a JSON Lines file are (as Modalities does)");
  files->add_to(*command, "JSON Lines, one document a line", "index (.idx) to write");
  command->callback([files] {
    files->check_output();
    fmt::print("{}: {} documents\n", files->output, data::index_json_lines(files->input, files->output));
  });
}

void add_pack(CLI::App& app) {
  struct Options {
    Files files;
    std::string tokenizer;
    data::PackSettings settings;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("pack", "Turn text into token ids, packed as Modalities packs them");
  options->files.add_to(*command, "JSON Lines (.jsonl), one document a line, or a text (.txt), one document",
                        "packed file (.pbin) to write");
  command->add_option("--tokenizer", options->tokenizer, "tokenizer.json")->required();
  command->add_option("--eod", options->settings.end_of_document, "Token that ends each document")
      ->capture_default_str();
  command->add_option("--field", options->settings.field, "Where a record has its text (JSON Pointer)")
      ->capture_default_str();
  command->callback([options] {
    options->files.check_output();
    const data::Tokenizer tokenizer(data::read_tokenizer_definition(options->tokenizer));
    const data::PackSummary summary =
        data::pack(options->files.input, tokenizer, options->files.output, options->settings);
    fmt::print("{}: {} documents ({} empty), {} tokens of {} bytes\n", options->files.output, summary.n_documents,
               summary.n_empty_documents, summary.n_tokens, summary.bytes_per_token);
  });
}

int run(int argc, char** argv) {
  CLI::App app("monomorph-data: from text to tokens on the disk");
  app.require_subcommand(1);
  add_train_tokenizer(app);
  add_index(app);
  add_pack(app);
  try {
    app.parse(argc, argv);
    return static_cast<int>(ExitCode::success);
  } catch (const CLI::CallForHelp& help) {
    return app.exit(help);
  } catch (const CLI::CallForAllHelp& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "error: [DATA-10] {}; see monomorph-data --help\n", error.what());
    return static_cast<int>(ExitCode::usage);
  } catch (const Error& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::bad_alloc&) {
    fmt::print(stderr, "error: [DATA-12] there is not enough memory\n");
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
  }
  return static_cast<int>(ExitCode::failure);
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = 0;
  {
    const InterruptionGuard guard;
    exit_code = run(argc, argv);
  }
  // What asked us to stop learns from the exit status that we did.
  if (exit_code != 0 && interrupting_signal() != 0) std::raise(interrupting_signal());
  return exit_code;
}
