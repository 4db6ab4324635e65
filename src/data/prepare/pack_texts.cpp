#include <monomorph/data/prepare/pack_texts.hpp>

#include "data/formats/masked_set_writer.hpp"
#include "data/records/json_kind.hpp"
#include "data/records/record_reading.hpp"
#include "data/records/skip_report.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/prepare/pack.hpp>

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <numeric>

namespace monomorph::data {
namespace {

using Texts = std::vector<std::vector<std::int32_t>>;

constexpr std::int64_t longest_sequence = std::int64_t{1} << 24;
constexpr std::size_t most_texts = 8;

void check_settings(const PackTextsSettings& settings, const Tokenizer& tokenizer) {
  const std::size_t n = settings.fields.size();
  if (n < 2 || n > most_texts)
    throw UsageError("PAIRS-03",
                     fmt::format("a sample has 2 to {} texts; give --field as often, and not {} times", most_texts, n));
  const std::size_t n_around = tokenizer.ids_before_text().size() + tokenizer.ids_after_text().size();
  const auto least = static_cast<std::int64_t>(n * (n_around + 1));
  if (settings.sequence_length < least || settings.sequence_length > longest_sequence)
    throw UsageError("PAIRS-03", fmt::format("a sample of {} tokens: --sequence-length must lie in {}..{}",
                                             settings.sequence_length, least, longest_sequence));
}

/// What the lines of a block became.
struct BlockTexts {
  std::vector<Texts> samples;
  std::vector<LineFailure> failures;
  std::int64_t n_records = 0, n_cut = 0;
};

/// Turns lines into the texts of samples. One per thread.
class TextsReader {
 public:
  TextsReader(const Tokenizer& tokenizer, const PackTextsSettings& settings)
      : tokenizer_(tokenizer), settings_(settings), encoder_(tokenizer) {
    for (const std::string& field : settings.fields) fields_.emplace_back(field);
  }

  void read(LineBlock& block, BlockTexts& result) {
    result = {};
    read_records(block, settings_.on_error, result, result.n_records,
                 [&](std::string_view line) { return read_line(line, result); });
  }

 private:
  std::optional<LineProblem> read_line(std::string_view line, BlockTexts& result) {
    Texts texts;
    try {
      auto problem = parser_.visit(line, [&](const simdjson::dom::element& record, bool) {
        for (const FieldPointer& field : fields_) texts.push_back(text_tokens(encoder_, text_at(record, field)));
      });
      if (problem) return problem;
    } catch (const Error& error) {
      return problem_of(error);
    }
    if (cut_texts(texts, settings_.sequence_length, tokenizer_)) ++result.n_cut;
    result.samples.push_back(std::move(texts));
    return std::nullopt;
  }

  static std::string_view text_at(simdjson::dom::element value, const FieldPointer& field) {
    if (!find_field(value, field))
      throw Error("PAIRS-01", fmt::format("the record has no field {}; name the fields of the texts with --field",
                                          in_quotes(field.text())));
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS)
      throw Error("PAIRS-01", fmt::format("the field {} is {}, not text; name the fields of the texts with --field",
                                          in_quotes(field.text()), json_kind(value)));
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
      throw Error("PAIRS-02",
                  fmt::format("the text at {} says nothing; leave the record out", in_quotes(field.text())));
    return text;
  }

  const Tokenizer& tokenizer_;
  const PackTextsSettings& settings_;
  std::vector<FieldPointer> fields_;
  JsonLineParser parser_;
  Encoder encoder_;
};

/// Takes the samples of all blocks in order.
class TextsOutput {
 public:
  TextsOutput(const std::vector<std::string>& inputs, const Tokenizer& tokenizer, const std::string& output,
              const PackTextsSettings& settings)
      : report_(inputs, settings.on_error, settings.report.empty() ? default_report_path(output) : settings.report),
        writer_(output, tokenizer.definition(), tokenizer.vocab_size(),
                {.sequence_length = settings.sequence_length,
                 .format = texts_format(std::ssize(settings.fields)),
                 .padding = 0}) {}

  void add(const LineBlock& block, const BlockTexts& read) {
    report_.add(block, summary_.n_records, read.failures);
    summary_.n_records += read.n_records;
    summary_.n_cut += read.n_cut;
    for (const Texts& texts : read.samples) write_sample(texts);
  }

  PackTextsSummary commit() {
    summary_.n_skipped = report_.n_skipped();
    if (summary_.n_records == 0) throw_empty_input(report_.name_of_inputs());
    if (summary_.n_skipped == summary_.n_records) report_.throw_all_skipped();
    report_.commit_with(writer_);
    summary_.n_tokens = static_cast<std::int64_t>(writer_.header().n_tokens);
    summary_.n_text_tokens = static_cast<std::int64_t>(writer_.header().n_counted);
    return summary_;
  }

 private:
  void write_sample(const Texts& texts) {
    for (const std::vector<std::int32_t>& text : texts) {
      writer_.begin_document();
      for (const std::int32_t id : text) writer_.add_token(id, true);
    }
    writer_.fill_sample_apart();
    ++summary_.n_samples;
  }

  SkipReport report_;
  MaskedSetWriter writer_;
  PackTextsSummary summary_;
};

}  // namespace

std::vector<std::int32_t> text_tokens(Encoder& encoder, std::string_view text) {
  std::vector<std::int32_t> ids;
  encoder.encode(text, ids, SpecialTokens::around_text);
  return ids;
}

bool cut_texts(Texts& texts, std::int64_t most, const Tokenizer& tokenizer) {
  std::vector<std::size_t> shortest_first(texts.size());
  std::iota(shortest_first.begin(), shortest_first.end(), 0);
  std::ranges::stable_sort(shortest_first, {}, [&](std::size_t text) { return texts[text].size(); });
  const auto n_after = std::ssize(tokenizer.ids_after_text());
  std::int64_t room = most, n_left = std::ssize(texts);
  bool any = false;
  for (const std::size_t i : shortest_first) {
    std::vector<std::int32_t>& ids = texts[i];
    const std::int64_t share = room / n_left--;  // what shorter ones leave is for the longer ones
    if (const std::int64_t excess = std::ssize(ids) - share; excess > 0) {
      ids.erase(ids.end() - n_after - excess, ids.end() - n_after);
      any = true;
    }
    room -= std::ssize(ids);
  }
  return any;
}

PackTextsSummary pack_texts(const std::vector<std::string>& inputs, const Tokenizer& tokenizer,
                            const std::string& output, const PackTextsSettings& settings) {
  check_settings(settings, tokenizer);
  std::vector<TextsReader> readers;
  readers.reserve(static_cast<std::size_t>(settings.n_threads));
  for (int i = 0; i < settings.n_threads; ++i) readers.emplace_back(tokenizer, settings);
  const std::vector<FieldPointer> fields(settings.fields.begin(), settings.fields.end());
  LineBlockReader blocks(inputs, columns_of(fields));
  TextsOutput set(inputs, tokenizer, output, settings);
  const std::uint64_t done_bytes =
      read_blocks<BlockTexts>(blocks, readers, settings.progress,
                              [&](const LineBlock& block, BlockTexts& read) { set.add(block, read); });
  PackTextsSummary summary = set.commit();
  summary.input_bytes = done_bytes;
  return summary;
}

}  // namespace monomorph::data
