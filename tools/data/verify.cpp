#include "command.hpp"
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/prepare/pack.hpp>
#include <monomorph/data/prepare/verify.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>

namespace monomorph::tools {
namespace {

constexpr std::int64_t most_lines = 100;

struct Verify {
  static constexpr const char* name = "verify";
  static constexpr const char* description = "Look for everything that can be wrong in a packed file or an index";

  InputOption input;
  RecordsOption records;
  std::string tokenizer_path, end_of_document;
  data::VerifySettings settings;

  void add_options(CLI::App& command) {
    input.add_to(command, "packed file (.pbin) or index (.idx)");
    records.add_to(command);
    CLI::Option* tokenizer = command.add_option("--tokenizer", tokenizer_path,
                                                "tokenizer.json or .model whose vocabulary every id must be in");
    add_number(command, "--vocab-size", settings.vocab_size, "Every id must be below", {.least = 1})
        ->excludes(tokenizer);
    CLI::Option* eod = command.add_option("--eod", end_of_document, "Token that every document must end in");
    eod->needs(tokenizer);
    add_number(command, "--eod-id", settings.end_of_document, "Id that every document must end in")->excludes(eod);
  }

  void run(Console& console) {
    std::vector<std::string> findings;
    const auto report = [&](std::string_view finding) {
      if (static_cast<std::int64_t>(findings.size()) == most_lines) return;
      findings.emplace_back(finding);
      console.say(fmt::format("{}: {}", input.path, finding));
    };
    const data::VerifySummary summary = look(report, console.progress());
    console.summarise({{"input", input.path},
                       {"documents", summary.n_documents},
                       {"empty_documents", summary.n_empty_documents},
                       {"tokens", summary.n_tokens},
                       {"loss_mask", summary.has_loss_mask},
                       {"n_findings", summary.n_findings},
                       {"findings", findings}});
    if (summary.n_findings > 0) {
      throw Error("DATA-51",
                  fmt::format("{} has {} faults{}; write it again", in_quotes(input.path), summary.n_findings,
                              summary.n_findings > most_lines ? fmt::format(", of which {} are shown", most_lines)
                                                              : ""));
    }
    console.say(fmt::format("{}: nothing wrong with {} documents{}", input.path, summary.n_documents,
                            summary.has_loss_mask ? " and their loss mask" : ""));
  }

 private:
  data::VerifySummary look(const data::FindingCallback& report, const data::ProgressCallback& progress) {
    const std::string extension = std::filesystem::path(input.path).extension().string();
    if (extension == ".pbin") {
      if (!tokenizer_path.empty()) read_tokenizer();
      return data::verify_packed(input.path, settings, report, progress);
    }
    if (extension != ".idx") {
      throw UsageError("DATA-40", in_quotes(input.path) +
                                      " ends in neither .pbin (packed) nor .idx (index); rename it after what it is");
    }
    return data::verify_index(input.path, records.of_index(input), report, progress);
  }

  void read_tokenizer() {
    const auto read = data::read_tokenizer(tokenizer_path);
    const data::Tokenizer& tokenizer = *read;
    settings.vocab_size = tokenizer.vocab_size();
    if (end_of_document.empty()) return;
    settings.end_of_document = data::find_end_of_document(tokenizer, end_of_document);
  }
};

}  // namespace

void add_verify(CLI::App& program) { add_command<Verify>(program); }

}  // namespace monomorph::tools
