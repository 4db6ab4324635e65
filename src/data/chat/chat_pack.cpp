#include "data/chat/chat_record.hpp"
#include "data/chat/chat_sample_packer.hpp"
#include "data/chat/templated_chat.hpp"
#include "data/chat/templated_chat_encoder.hpp"
#include "data/formats/masked_set_writer.hpp"
#include "data/records/record_reading.hpp"
#include "data/records/skip_report.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/chat_encoder.hpp>
#include <monomorph/data/chat/chat_pack.hpp>
#include <monomorph/data/prepare/pack.hpp>

#include <fmt/format.h>

#include <optional>
#include <variant>

namespace monomorph::data {
namespace {

constexpr std::int64_t longest_sequence = std::int64_t{1} << 24;

void check_settings(const ChatPackSettings& settings) {
  if (settings.sequence_length < 2 || settings.sequence_length > longest_sequence) {
    throw UsageError("CHAT-09", fmt::format("a sample of {} tokens: --sequence-length must lie in 2..{}",
                                            settings.sequence_length, longest_sequence));
  }
  if (settings.counted_roles.none()) throw UsageError("CHAT-09", "no role counts in the loss; name one with --roles");
  if (settings.chat_template->of_model() != nullptr && settings.counted_roles != assistant_alone)
    throw UsageError("CHAT-09",
                     "by a model's own template the assistant counts and nobody else; leave --roles out, or name a "
                     "template that is known here");
}

/// Turns lines into chats by a template that is known here.
class KnownTemplateLines {
 public:
  KnownTemplateLines(const Tokenizer& tokenizer, const ChatPackSettings& settings)
      : records_(settings.field), encoder_(tokenizer, *settings.chat_template->known(), settings.counted_roles) {}

  std::variant<EncodedChat, LineProblem> of(std::string_view line) {
    auto record = records_.of(line);
    if (auto* problem = std::get_if<LineProblem>(&record)) return std::move(*problem);
    return encoder_.encode(std::get<std::vector<ChatMessage>>(record));
  }

 private:
  ChatRecords records_;
  ChatEncoder encoder_;
};

/// The same by a model's own.
class ModelTemplateLines {
 public:
  ModelTemplateLines(const Tokenizer& tokenizer, const ChatPackSettings& settings)
      : records_(settings.field), encoder_(tokenizer, *settings.chat_template->of_model(), settings.now) {}

  std::variant<EncodedChat, LineProblem> of(std::string_view line) {
    TemplatedChat chat;
    if (auto problem = records_.read(line, chat)) return *std::move(problem);
    return encoder_.encode(chat);
  }

 private:
  TemplatedChatRecords records_;
  TemplatedChatEncoder encoder_;
};

using ChatLines = std::variant<KnownTemplateLines, ModelTemplateLines>;

/// What the lines of a block became.
struct BlockChats {
  std::vector<EncodedChat> chats;
  std::vector<LineFailure> failures;
  ChatPackSummary counts;
};

/// Turns lines into chats that fit a sample. One per thread.
class ChatReader {
 public:
  ChatReader(ChatLines lines, const ChatPackSettings& settings) : settings_(settings), lines_(std::move(lines)) {}

  void read(LineBlock& block, BlockChats& result) {
    result = {};
    read_records(block, settings_.on_error, result, result.counts.n_records,
                 [&](std::string_view line) { return read_line(line, result); });
  }

 private:
  std::optional<LineProblem> read_line(std::string_view line, BlockChats& result) {
    try {
      auto chat = std::visit([&](auto& lines) { return lines.of(line); }, lines_);
      if (auto* problem = std::get_if<LineProblem>(&chat)) return std::move(*problem);
      add(std::get<EncodedChat>(std::move(chat)), result);
    } catch (const Error& error) {
      return problem_of(error);
    }
    return std::nullopt;
  }

  void add(EncodedChat chat, BlockChats& result) const {
    const auto size = static_cast<std::size_t>(settings_.sequence_length);
    const bool too_long = chat.ids.size() > size;
    if (too_long && settings_.too_long == TooLong::skip) {
      ++result.counts.n_too_long;
      return;
    }
    if (too_long && settings_.too_long == TooLong::refuse) {
      throw Error("CHAT-07",
                  fmt::format("the chat has {} tokens, and a sample {}; choose --on-too-long truncate or skip, "
                              "or a longer sequence",
                              chat.ids.size(), size));
    }
    if (too_long) {
      chat.ids.resize(size);
      chat.counted.resize(size);
    }
    if (!chat.has_target()) {
      ++result.counts.n_without_counted;
      return;
    }
    result.counts.n_truncated += too_long ? 1 : 0;
    result.chats.push_back(std::move(chat));
  }

  const ChatPackSettings& settings_;
  ChatLines lines_;
};

/// Takes the chats of all blocks in order.
class ChatOutput {
 public:
  ChatOutput(const std::vector<std::string>& inputs, const Tokenizer& tokenizer, const std::string& output,
             const ChatPackSettings& settings)
      : report_(inputs, settings.on_error, settings.report.empty() ? default_report_path(output) : settings.report),
        writer_(output, tokenizer.definition(), tokenizer.vocab_size(),
                {.sequence_length = settings.sequence_length,
                 .format = settings.chat_template->fingerprint(),
                 .padding = settings.chat_template->padding(tokenizer)}),
        packer_(settings.sequence_length, [this](const auto& chats) { write_sample(chats); }) {}

  void add(const LineBlock& block, BlockChats& read) {
    report_.add(block, summary_.n_records, read.failures);
    summary_.n_skipped = report_.n_skipped();
    summary_.n_records += read.counts.n_records;
    summary_.n_too_long += read.counts.n_too_long;
    summary_.n_without_counted += read.counts.n_without_counted;
    summary_.n_truncated += read.counts.n_truncated;
    for (EncodedChat& chat : read.chats) {
      ++summary_.n_chats;
      summary_.n_chat_tokens += static_cast<std::int64_t>(chat.ids.size());
      packer_.add(std::move(chat));
    }
  }

  ChatPackSummary commit() {
    if (summary_.n_records == 0) throw_empty_input(report_.name_of_inputs());
    if (summary_.n_skipped == summary_.n_records) report_.throw_all_skipped();
    packer_.flush();
    if (summary_.n_samples == 0) throw_nothing_counts();
    writer_.add_padding();  // so that the last sample has a last target
    report_.commit_with(writer_);
    summary_.n_tokens = static_cast<std::int64_t>(writer_.header().n_tokens);
    summary_.n_counted = static_cast<std::int64_t>(writer_.header().n_counted);
    return summary_;
  }

 private:
  /// Each chat is a document; padding belongs to the chat before it.
  void write_sample(const std::vector<const EncodedChat*>& chats) {
    for (const EncodedChat* chat : chats) writer_.add_document(chat->ids, chat->counted);
    writer_.fill_sample();
    ++summary_.n_samples;
  }

  [[noreturn]] void throw_nothing_counts() const {
    throw Error("CHAT-08",
                fmt::format("{} has no chat to train on: of {} lines {} are no chats, {} are too long, and in {} no "
                            "token counts; see --roles, --on-too-long and --sequence-length",
                            in_quotes(report_.name_of_inputs()), summary_.n_records, summary_.n_skipped,
                            summary_.n_too_long, summary_.n_without_counted));
  }

  SkipReport report_;
  MaskedSetWriter writer_;
  ChatSamplePacker packer_;
  ChatPackSummary summary_;
};

ChatLines lines_of(const Tokenizer& tokenizer, const ChatPackSettings& settings) {
  if (settings.chat_template->known() != nullptr) return KnownTemplateLines(tokenizer, settings);
  return ModelTemplateLines(tokenizer, settings);
}

/// Those where find_chat_messages looks for messages, and that of the tools beside them.
Columns columns_of_chats(const std::string& field) {
  if (field.empty()) return {"messages", "conversations", "tools"};
  Columns columns = columns_of({FieldPointer(field)});
  if (!columns.empty()) columns.push_back("tools");
  return columns;
}

}  // namespace

ChatPackSummary pack_chats(const std::vector<std::string>& inputs, const Tokenizer& tokenizer,
                           const std::string& output, const ChatPackSettings& settings) {
  check_settings(settings);
  std::vector<ChatReader> readers;
  readers.reserve(static_cast<std::size_t>(settings.n_threads));
  for (int i = 0; i < settings.n_threads; ++i) readers.emplace_back(lines_of(tokenizer, settings), settings);
  LineBlockReader blocks(inputs, columns_of_chats(settings.field));
  ChatOutput set(inputs, tokenizer, output, settings);
  const std::uint64_t done_bytes =
      read_blocks<BlockChats>(blocks, readers, settings.progress,
                              [&](const LineBlock& block, BlockChats& read) { set.add(block, read); });
  ChatPackSummary summary = set.commit();
  summary.input_bytes = done_bytes;
  return summary;
}

}  // namespace monomorph::data
