#include "command.hpp"
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/prepare/pack.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <span>

namespace monomorph::tools {
namespace {

std::string hash_of_file(const std::string& path) {
  const std::string bytes = read_text_file(path, std::size_t{1} << 30);
  return fmt::format("{:016x}", xxh64(std::as_bytes(std::span(bytes.data(), bytes.size()))));
}

struct Pack {
  static constexpr const char* name = "pack";
  static constexpr const char* description = "Turn text into token ids, packed as Modalities packs them";

  InputsOption inputs;
  OutputOption output;
  OnErrorOption on_error;
  ThreadsOption threads;
  std::string tokenizer_path;
  bool resume = false;
  data::PackSettings settings;
  const CLI::Option* field_option = nullptr;

  void add_options(CLI::App& command) {
    inputs.add_to(command,
                  "JSON Lines (.jsonl) or Parquet, one document a line or row, or texts (.txt), one document each; "
                  "several files, or .gz or .zst of them; a pattern (*, ?, [a-z]) stands for its files");
    output.add_to(command, "packed file (.pbin) to write");
    command.add_option("--tokenizer", tokenizer_path, "tokenizer.json, or a SentencePiece .model")->required();
    command.add_option("--eod", settings.end_of_document, "Token that ends each document")->capture_default_str();
    field_option = command.add_option("--field", settings.field, "Where a record has its text (JSON Pointer)")
                       ->capture_default_str();
    add_choice(command, "--token-bytes", settings.bytes_per_token,
               "Bytes per token (default: as few as the vocabulary needs)", {{"1", 1}, {"2", 2}, {"4", 4}});
    command.add_flag("--resume", resume, "Go on from <output>.partial if there is one, and keep it on failure");
    on_error.add_to(command);
    threads.add_to(command);
  }

  void run(Console& console) const {
    const std::vector<std::string> files = inputs.files();
    check_files(files);
    data::PackSettings all = settings;
    all.on_error = on_error.value;
    all.report = on_error.report_path(output);
    all.n_threads = threads.count;
    all.unfinished = resume         ? data::Unfinished::resume
                     : output.force ? data::Unfinished::discard
                                    : data::Unfinished::refuse;
    all.tokenizer_fingerprint = hash_of_file(tokenizer_path);
    all.progress = console.progress();
    const auto tokenizer = data::read_tokenizer(tokenizer_path);
    tell(data::pack(files, *tokenizer, output.path, all), console);
  }

 private:
  static bool is_text(const std::string& path) {
    const auto ends_with = [&](const char* end) { return path.ends_with(end); };
    return ends_with(".txt") || ends_with(".txt.gz") || ends_with(".txt.zst");
  }

  void check_files(const std::vector<std::string>& files) const {
    const auto text = std::ranges::find_if(files, is_text);
    if (field_option->count() > 0 && text != files.end()) {
      throw UsageError("DATA-10",
                       fmt::format("--field says where a record has its text, but {} is one text; leave it out",
                                   in_quotes(*text)));
    }
    const std::string report = on_error.written_report(output);
    refuse_shared_files({output.path, report}, with_file(files, tokenizer_path));
    // A run that ended between putting its report and its output in their places left the report behind.
    const bool goes_on = resume && std::filesystem::exists(data::unfinished_path(output.path));
    output.check({output.path, goes_on ? "" : report}, {});
  }

  void tell(const data::PackSummary& summary, Console& console) const {
    console.say(fmt::format("{}: {} documents ({} empty), {} tokens of {} bytes", output.path, summary.n_documents,
                            summary.n_empty_documents, summary.n_tokens, summary.bytes_per_token));
    on_error.tell(console, output, summary.n_skipped);
    console.summarise({{"output", output.path},
                       {"documents", summary.n_documents},
                       {"empty_documents", summary.n_empty_documents},
                       {"skipped", summary.n_skipped},
                       {"tokens", summary.n_tokens},
                       {"bytes_per_token", summary.bytes_per_token},
                       {"input_bytes", summary.input_bytes},
                       {"resumed_bytes", summary.resumed_bytes}});
  }
};

}  // namespace

void add_pack(CLI::App& program) { add_command<Pack>(program); }

}  // namespace monomorph::tools
