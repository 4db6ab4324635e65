#include <monomorph/data/chat/preference_pack.hpp>

#include "data/chat/preference_record.hpp"
#include "data/formats/masked_set_writer.hpp"
#include "data/records/record_reading.hpp"
#include "data/records/skip_report.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/chat_encoder.hpp>
#include <monomorph/data/formats/reference_scores.hpp>
#include <monomorph/data/prepare/pack.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace monomorph::data {
namespace {

constexpr std::int64_t shortest_sequence = 4, longest_sequence = std::int64_t{1} << 24;
constexpr ChatRoles assistant_alone = 1u << static_cast<unsigned>(ChatRole::assistant);

void check_settings(const PreferencePackSettings& settings) {
  if (settings.sequence_length < shortest_sequence || settings.sequence_length > longest_sequence)
    throw UsageError("PREF-03", fmt::format("a sample of {} tokens: --sequence-length must lie in {}..{}",
                                            settings.sequence_length, shortest_sequence, longest_sequence));
}

/// Turns answers into ids. One per thread.
class AnswerEncoder {
 public:
  /// @param chat_template null: plain texts
  AnswerEncoder(const Tokenizer& tokenizer, const ChatTemplate* chat_template, std::int32_t end_of_text)
      : tokenizer_(tokenizer), encoder_(tokenizer), end_of_text_(end_of_text) {
    if (chat_template != nullptr) chats_.emplace(tokenizer, *chat_template, assistant_alone);
  }

  EncodedChat encode(const Answered& answered) {
    if (chats_) return chats_->encode(answered.messages);
    EncodedChat text;
    const auto before = tokenizer_.ids_before_text();
    text.ids.assign(before.begin(), before.end());
    encoder_.encode_plain(answered.prompt, text.ids);
    text.counted.resize(text.ids.size(), false);
    encoder_.encode_plain(answered.answer, text.ids, answered.prompt.empty());
    text.ids.push_back(end_of_text_);
    text.counted.resize(text.ids.size(), true);
    return text;
  }

 private:
  const Tokenizer& tokenizer_;
  Encoder encoder_;
  std::optional<ChatEncoder> chats_;
  std::int32_t end_of_text_;
};

using EncodedPair = std::array<EncodedChat, 2>;  ///< chosen, rejected

/// What the lines of a block became.
struct BlockPairs {
  std::vector<EncodedPair> pairs;
  std::vector<LineFailure> failures;
  PreferencePackSummary counts;
};

/// Turns lines into pairs that fit a sample. One per thread.
class PairsReader {
 public:
  PairsReader(const PreferencePackSettings& settings, AnswerEncoder encoder)
      : settings_(settings), records_(settings.fields, !settings.chat_template.empty()), encoder_(std::move(encoder)) {}

  void read(LineBlock& block, BlockPairs& result) {
    result = {};
    read_records(block, settings_.on_error, result, result.counts.n_records,
                 [&](std::string_view line) { return read_line(line, result); });
  }

 private:
  std::optional<LineProblem> read_line(std::string_view line, BlockPairs& result) {
    PreferencePair pair;
    if (auto problem = records_.read(line, pair)) return problem;
    try {
      add({encoder_.encode(pair.chosen), encoder_.encode(pair.rejected)}, result);
    } catch (const Error& error) {
      return problem_of(error);
    }
    return std::nullopt;
  }

  void add(EncodedPair pair, BlockPairs& result) const {
    const std::int64_t together = std::ssize(pair[0].ids) + std::ssize(pair[1].ids);
    const bool too_long = together > settings_.sequence_length;
    if (too_long && settings_.too_long == TooLong::skip) {
      ++result.counts.n_too_long;
      return;
    }
    if (too_long && settings_.too_long == TooLong::refuse)
      throw Error("PREF-04",
                  fmt::format("the two answers, with what was asked, have {} tokens together, and a sample {}; choose "
                              "--on-too-long truncate or skip, or a longer sequence",
                              together, settings_.sequence_length));
    if (too_long) cut(pair);
    if (!pair[0].has_target() || !pair[1].has_target()) {
      ++result.counts.n_without_counted;
      return;
    }
    result.counts.n_truncated += too_long ? 1 : 0;
    result.pairs.push_back(std::move(pair));
  }

  /// The longer of the two loses its end, or both do.
  void cut(EncodedPair& pair) const {
    const std::int64_t half = settings_.sequence_length / 2,
                       shorter = std::min(std::ssize(pair[0].ids), std::ssize(pair[1].ids));
    const std::int64_t most = shorter < half ? settings_.sequence_length - shorter : half;
    for (EncodedChat& chat : pair) {
      const std::size_t kept = std::min(chat.ids.size(), static_cast<std::size_t>(most));
      chat.ids.resize(kept);
      chat.counted.resize(kept);
    }
  }

  const PreferencePackSettings& settings_;
  PreferenceRecords records_;
  AnswerEncoder encoder_;
};

/// Takes the pairs of all blocks in order.
class PairsOutput {
 public:
  PairsOutput(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
              const PreferencePackSettings& settings, std::int32_t padding)
      : input_(input),
        report_(input, settings.on_error, settings.report.empty() ? default_report_path(output) : settings.report),
        writer_(output, tokenizer.definition(), tokenizer.vocab_size(),
                {.sequence_length = settings.sequence_length,
                 .format = sequences_format(std::tuple_size_v<EncodedPair>),
                 .padding = padding}) {}

  void add(BlockPairs& block) {
    for (const LineFailure& failure : block.failures)
      report_.add(failure, summary_.n_records + failure.line_in_block + 1);
    summary_.n_records += block.counts.n_records;
    summary_.n_too_long += block.counts.n_too_long;
    summary_.n_without_counted += block.counts.n_without_counted;
    summary_.n_truncated += block.counts.n_truncated;
    for (const EncodedPair& pair : block.pairs) write_sample(pair);
  }

  PreferencePackSummary commit() {
    summary_.n_skipped = report_.n_skipped();
    if (summary_.n_records == 0) throw_empty_input(input_);
    if (summary_.n_skipped == summary_.n_records) report_.throw_all_skipped();
    if (summary_.n_pairs == 0)
      throw Error("PREF-04",
                  fmt::format("{} has no pair to train on: of {} lines {} are no pairs, {} are too long, and "
                              "in {} an answer was cut off whole; see --on-too-long and --sequence-length",
                              in_quotes(input_), summary_.n_records, summary_.n_skipped, summary_.n_too_long,
                              summary_.n_without_counted));
    writer_.begin_document();
    writer_.add_padding();  // so that the last sample has a last target
    report_.commit_with(writer_);
    summary_.n_tokens = static_cast<std::int64_t>(writer_.header().n_tokens);
    summary_.n_counted = static_cast<std::int64_t>(writer_.header().n_counted);
    return summary_;
  }

 private:
  void write_sample(const EncodedPair& pair) {
    for (const EncodedChat& chat : pair) {
      writer_.add_document(chat.ids, chat.counted);
      summary_.n_sequence_tokens += std::ssize(chat.ids);
    }
    writer_.fill_sample_apart();
    ++summary_.n_pairs;
  }

  const std::string& input_;
  SkipReport report_;
  MaskedSetWriter writer_;
  PreferencePackSummary summary_;
};

}  // namespace

PreferencePackSummary pack_preferences(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
                                       const PreferencePackSettings& settings) {
  check_settings(settings);
  const ChatTemplate* const chat_template =
      settings.chat_template.empty() ? nullptr : &find_chat_template(settings.chat_template);
  const std::int32_t end = chat_template == nullptr ? find_end_of_document(tokenizer, settings.end_of_text) : -1;
  std::vector<PairsReader> readers;
  readers.reserve(static_cast<std::size_t>(settings.n_threads));
  for (int i = 0; i < settings.n_threads; ++i)
    readers.emplace_back(settings, AnswerEncoder(tokenizer, chat_template, end));
  const std::vector<FieldPointer> fields(settings.fields.begin(), settings.fields.end());
  LineBlockReader blocks({input}, columns_of(fields));
  const std::int32_t padding = chat_template == nullptr ? end : tokenizer.find(chat_template->end_token).value();
  PairsOutput set(input, tokenizer, output, settings, padding);
  const std::uint64_t done_bytes =
      read_blocks<BlockPairs>(blocks, readers, settings.progress, [&](BlockPairs& of_block) { set.add(of_block); });
  PreferencePackSummary summary = set.commit();
  summary.input_bytes = done_bytes;
  return summary;
}

}  // namespace monomorph::data
