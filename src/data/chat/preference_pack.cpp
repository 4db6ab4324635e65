#include <monomorph/data/chat/preference_pack.hpp>

#include "core/overloaded.hpp"
#include "data/chat/preference_record.hpp"
#include "data/chat/templated_chat_encoder.hpp"
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
#include <utility>
#include <variant>

namespace monomorph::data {
namespace {

constexpr std::int64_t shortest_sequence = 4, longest_sequence = std::int64_t{1} << 24;

void check_settings(const PreferencePackSettings& settings) {
  if (settings.sequence_length < shortest_sequence || settings.sequence_length > longest_sequence)
    throw UsageError("PREF-03", fmt::format("a sample of {} tokens: --sequence-length must lie in {}..{}",
                                            settings.sequence_length, shortest_sequence, longest_sequence));
}

/// Turns plain texts into ids. One per thread.
class AnsweredTextEncoder {
 public:
  AnsweredTextEncoder(const Tokenizer& tokenizer, std::int32_t end_of_text)
      : tokenizer_(tokenizer), encoder_(tokenizer), end_of_text_(end_of_text) {}

  EncodedChat encode(const AnsweredText& answered) {
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
  std::int32_t end_of_text_;
};

/// One for each kind of Answered, in their order.
using AnswerEncoder = std::variant<AnsweredTextEncoder, ChatEncoder, TemplatedChatEncoder>;

AnswerForm form_of(const AnswerEncoder& encoder) { return static_cast<AnswerForm>(encoder.index()); }

/// What an encoder is given is of its kind.
EncodedChat encoded(AnswerEncoder& encoder, const Answered& answered) {
  return std::visit(Overloaded{[&](AnsweredTextEncoder& of) { return of.encode(std::get<AnsweredText>(answered)); },
                               [&](ChatEncoder& of) { return of.encode(std::get<std::vector<ChatMessage>>(answered)); },
                               [&](TemplatedChatEncoder& of) { return of.encode(std::get<TemplatedChat>(answered)); }},
                    encoder);
}

AnswerEncoder encoder_for(const Tokenizer& tokenizer, const PreferencePackSettings& settings) {
  if (!settings.chat_template)
    return AnsweredTextEncoder(tokenizer, find_end_of_document(tokenizer, settings.end_of_text));
  if (const ChatTemplate* const known = settings.chat_template->known())
    return ChatEncoder(tokenizer, *known, assistant_alone);
  return TemplatedChatEncoder(tokenizer, *settings.chat_template->of_model(), settings.now);
}

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
      : settings_(settings), records_(settings.fields, form_of(encoder)), encoder_(std::move(encoder)) {}

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
      add({encoded(encoder_, pair.chosen), encoded(encoder_, pair.rejected)}, result);
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
  PairsOutput(const std::vector<std::string>& inputs, const Tokenizer& tokenizer, const std::string& output,
              const PreferencePackSettings& settings)
      : report_(inputs, settings.on_error, settings.report.empty() ? default_report_path(output) : settings.report),
        writer_(output, tokenizer.definition(), tokenizer.vocab_size(),
                {.sequence_length = settings.sequence_length,
                 .format = sequences_format(std::tuple_size_v<EncodedPair>),
                 .padding = settings.chat_template ? settings.chat_template->padding(tokenizer)
                                                   : find_end_of_document(tokenizer, settings.end_of_text)}) {}

  void add(const LineBlock& block, const BlockPairs& read) {
    report_.add(block, summary_.n_records, read.failures);
    summary_.n_records += read.counts.n_records;
    summary_.n_too_long += read.counts.n_too_long;
    summary_.n_without_counted += read.counts.n_without_counted;
    summary_.n_truncated += read.counts.n_truncated;
    for (const EncodedPair& pair : read.pairs) write_sample(pair);
  }

  PreferencePackSummary commit() {
    summary_.n_skipped = report_.n_skipped();
    if (summary_.n_records == 0) throw_empty_input(report_.name_of_inputs());
    if (summary_.n_skipped == summary_.n_records) report_.throw_all_skipped();
    if (summary_.n_pairs == 0)
      throw Error("PREF-04",
                  fmt::format("{} has no pair to train on: of {} lines {} are no pairs, {} are too long, and "
                              "in {} an answer was cut off whole; see --on-too-long and --sequence-length",
                              in_quotes(report_.name_of_inputs()), summary_.n_records, summary_.n_skipped,
                              summary_.n_too_long, summary_.n_without_counted));
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

  SkipReport report_;
  MaskedSetWriter writer_;
  PreferencePackSummary summary_;
};

/// A model's own template is given the tools beside the answers, too.
Columns columns_of_pairs(const std::vector<FieldPointer>& fields, const PreferencePackSettings& settings) {
  Columns columns = columns_of(fields);
  if (!columns.empty() && settings.chat_template && settings.chat_template->of_model() != nullptr)
    columns.push_back("tools");
  return columns;
}

}  // namespace

PreferencePackSummary pack_preferences(const std::vector<std::string>& inputs, const Tokenizer& tokenizer,
                                       const std::string& output, const PreferencePackSettings& settings) {
  check_settings(settings);
  std::vector<PairsReader> readers;
  readers.reserve(static_cast<std::size_t>(settings.n_threads));
  for (int i = 0; i < settings.n_threads; ++i) readers.emplace_back(settings, encoder_for(tokenizer, settings));
  const std::vector<FieldPointer> fields(settings.fields.begin(), settings.fields.end());
  LineBlockReader blocks(inputs, columns_of_pairs(fields, settings));
  PairsOutput set(inputs, tokenizer, output, settings);
  const std::uint64_t done_bytes =
      read_blocks<BlockPairs>(blocks, readers, settings.progress,
                              [&](const LineBlock& block, BlockPairs& read) { set.add(block, read); });
  PreferencePackSummary summary = set.commit();
  summary.input_bytes = done_bytes;
  return summary;
}

}  // namespace monomorph::data
