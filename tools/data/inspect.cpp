#include "command.hpp"
#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/data/prepare/inspect.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>

namespace monomorph::tools {
namespace {

constexpr double shown_quantiles[] = {0.1, 0.5, 0.9, 0.99};

struct Inspect {
  static constexpr const char* name = "inspect";
  static constexpr const char* description = "Say what is in a set, or show one of its documents";

  InputOption input;
  RecordsOption records;
  std::optional<std::int64_t> document;
  std::string tokenizer_path;

  void add_options(CLI::App& command) {
    input.add_to(command, "packed file (.pbin), index (.idx) or JSON Lines (.jsonl)");
    add_number(command, "--document", document, "Show this document, counted from 0: of a packed file its token ids");
    records.add_to(command);
    command.add_option("--tokenizer", tokenizer_path, "tokenizer.json or .model, to show text instead of ids");
  }

  void run(Console& console) const {
    if (!document) {
      if (!tokenizer_path.empty())
        throw UsageError("DATA-10", "--tokenizer shows a document; say which, with --document");
      show_statistics(console);
    } else if (std::filesystem::path(input.path).extension() == ".pbin") {
      show_packed_document(console);
    } else {
      show_record(console);
    }
  }

 private:
  void show_statistics(Console& console) const {
    const data::SetStatistics statistics = data::read_statistics(input.path, console.progress());
    const data::LengthCounter& lengths = statistics.lengths;
    const bool has_tokens = statistics.bytes_per_token > 0;
    const char* const unit = has_tokens ? "tokens" : "bytes";
    nlohmann::ordered_json object{{"input", input.path}, {"file_bytes", statistics.file_bytes}};
    console.say(fmt::format("{}: {}", input.path, format_bytes(static_cast<std::int64_t>(statistics.file_bytes))));
    if (has_tokens) {
      object["bytes_per_token"] = statistics.bytes_per_token;
      console.say(fmt::format("bytes per token  {}", statistics.bytes_per_token));
    }
    object["documents"] = lengths.count();
    object[unit] = lengths.sum();
    console.say(fmt::format("documents        {}", lengths.count()));
    console.say(fmt::format("{:<16} {}", unit, lengths.sum()));
    object["length"] = show_lengths(console, lengths, unit);
    object["histogram"] = show_histogram(console, lengths, unit);
    console.summarise(object);
  }

  static nlohmann::ordered_json show_lengths(Console& console, const data::LengthCounter& lengths, const char* unit) {
    nlohmann::ordered_json object{{"mean", lengths.mean()}, {"least", lengths.least()}};
    std::string line = fmt::format("length           mean {:.1f}, least {}", lengths.mean(), lengths.least());
    for (const double fraction : shown_quantiles) {
      const std::uint64_t length = lengths.quantile(fraction);
      object[fmt::format("quantile_{}", fraction)] = length;
      line += fmt::format(", {:g} % up to {}", fraction * 100, length);
    }
    object["largest"] = lengths.largest();
    console.say(fmt::format("{}, largest {} {}", line, lengths.largest(), unit));
    return object;
  }

  static nlohmann::ordered_json show_histogram(Console& console, const data::LengthCounter& lengths, const char* unit) {
    constexpr std::int64_t widest_bar = 40;
    const auto bins = lengths.bins();
    std::int64_t most = 1;
    for (const auto& bin : bins) most = std::max(most, bin.count);
    auto array = nlohmann::ordered_json::array();
    for (const auto& bin : bins) {
      array.push_back({{"from", bin.begin}, {"to", bin.end - 1}, {"documents", bin.count}, {unit, bin.sum}});
      const std::int64_t bar = (bin.count * widest_bar + most - 1) / most;
      console.say(fmt::format("{:>12} to {:>12} {}: {:>12} documents {}", bin.begin, bin.end - 1, unit, bin.count,
                              std::string(static_cast<std::size_t>(bar), '#')));
    }
    return array;
  }

  void show_packed_document(Console& console) const {
    const std::vector<std::int32_t> ids = data::read_document(input.path, *document, console.progress());
    nlohmann::ordered_json object{{"input", input.path}, {"document", *document}, {"tokens", ids.size()}};
    if (tokenizer_path.empty()) {
      console.say(fmt::format("{}", fmt::join(ids, " ")));
      object["ids"] = ids;
    } else {
      const auto read = data::read_tokenizer(tokenizer_path);
      const data::Tokenizer& tokenizer = *read;
      const std::string text = tokenizer.decode(ids);
      console.say(text);
      object["text"] = text;
    }
    console.summarise(object);
  }

  void show_record(Console& console) const {
    if (!tokenizer_path.empty()) throw UsageError("DATA-10", "--tokenizer is for packed files; leave it out");
    const bool is_index = std::filesystem::path(input.path).extension() == ".idx";
    const std::string path = is_index ? records.of_index(input) : input.path;
    const std::string record = is_index ? data::read_indexed_record(input.path, path, *document, console.progress())
                                        : data::read_record(path, *document, console.progress());
    console.say(record);
    console.summarise({{"input", path}, {"document", *document}, {"record", record}});
  }
};

}  // namespace

void add_inspect(CLI::App& program) { add_command<Inspect>(program); }

}  // namespace monomorph::tools
