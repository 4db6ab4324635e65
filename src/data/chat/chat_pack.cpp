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
#include <monomorph/data/chat/model_template.hpp>
#include <monomorph/data/prepare/pack.hpp>

#include <fmt/format.h>

#include <optional>
#include <variant>

namespace monomorph::data {
namespace {

constexpr std::int64_t longest_sequence = std::int64_t{1} << 24;
constexpr ChatRoles assistant_alone = 1u << static_cast<unsigned>(ChatRole::assistant);

void check_settings(const ChatPackSettings& settings) {
  if (settings.sequence_length < 2 || settings.sequence_length > longest_sequence) {
    throw UsageError("CHAT-09", fmt::format("a sample of {} tokens: --sequence-length must lie in 2..{}",
                                            settings.sequence_length, longest_sequence));
  }
  if (settings.counted_roles.none()) throw UsageError("CHAT-09", "no role counts in the loss; name one with --roles");
  if (settings.model_template != nullptr && settings.counted_roles != assistant_alone)
    throw UsageError("CHAT-09",
                     "by a model's own template the assistant counts and nobody else; leave --roles out, or name a "
                     "template that is known here");
}

/// A template as the output sees it.
struct TemplateMarks {
  std::uint64_t fingerprint;
  std::int32_t padding;
};

/// No token that counts sees padding, so where the model's files name no token for it, any will do.
std::int32_t padding_of(const Tokenizer& tokenizer, const ModelTemplate& model_template) {
  for (const char* const name : {"pad_token", "eos_token"}) {
    const std::string* const token = model_template.token(name);
    if (token == nullptr) continue;
    if (const auto id = tokenizer.find(*token)) return *id;
  }
  return 0;
}

/// Turns lines into chats by a template that is known here.
class KnownTemplateLines {
 public:
  KnownTemplateLines(const Tokenizer& tokenizer, const ChatTemplate& chat_template, const ChatPackSettings& settings)
      : records_(settings.field), encoder_(tokenizer, chat_template, settings.counted_roles) {}

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
      : records_(settings.field), encoder_(tokenizer, *settings.model_template, settings.now) {}

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
  ChatOutput(const std::string& input, const Tokenizer& tokenizer, const TemplateMarks& of_template,
             const std::string& output, const ChatPackSettings& settings)
      : input_(input),
        report_(input, settings.on_error, settings.report.empty() ? default_report_path(output) : settings.report),
        writer_(output, tokenizer.definition(), tokenizer.vocab_size(),
                {.sequence_length = settings.sequence_length,
                 .format = of_template.fingerprint,
                 .padding = of_template.padding}),
        packer_(settings.sequence_length, [this](const auto& chats) { write_sample(chats); }) {}

  void add(BlockChats& block) {
    for (const LineFailure& failure : block.failures) {
      report_.add(failure, summary_.n_records + failure.line_in_block + 1);
    }
    summary_.n_skipped = report_.n_skipped();
    summary_.n_records += block.counts.n_records;
    summary_.n_too_long += block.counts.n_too_long;
    summary_.n_without_counted += block.counts.n_without_counted;
    summary_.n_truncated += block.counts.n_truncated;
    for (EncodedChat& chat : block.chats) {
      ++summary_.n_chats;
      summary_.n_chat_tokens += static_cast<std::int64_t>(chat.ids.size());
      packer_.add(std::move(chat));
    }
  }

  ChatPackSummary commit() {
    if (summary_.n_records == 0) throw_empty_input(input_);
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
                            in_quotes(input_), summary_.n_records, summary_.n_skipped, summary_.n_too_long,
                            summary_.n_without_counted));
  }

  const std::string& input_;
  SkipReport report_;
  MaskedSetWriter writer_;
  ChatSamplePacker packer_;
  ChatPackSummary summary_;
};

/// @param known null: by the model's own template
ChatLines lines_of(const Tokenizer& tokenizer, const ChatTemplate* known, const ChatPackSettings& settings) {
  if (known != nullptr) return KnownTemplateLines(tokenizer, *known, settings);
  return ModelTemplateLines(tokenizer, settings);
}

TemplateMarks marks_of(const Tokenizer& tokenizer, const ChatTemplate* known, const ChatPackSettings& settings) {
  if (known != nullptr) return {fingerprint(*known), tokenizer.find(known->end_token).value()};
  return {settings.model_template->fingerprint(), padding_of(tokenizer, *settings.model_template)};
}

/// Those where find_chat_messages looks for messages, and that of the tools beside them.
Columns columns_of_chats(const std::string& field) {
  if (field.empty()) return {"messages", "conversations", "tools"};
  Columns columns = columns_of({FieldPointer(field)});
  if (!columns.empty()) columns.push_back("tools");
  return columns;
}

}  // namespace

ChatPackSummary pack_chats(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
                           const ChatPackSettings& settings) {
  check_settings(settings);
  const ChatTemplate* const known =
      settings.model_template != nullptr ? nullptr : &find_chat_template(settings.chat_template);
  std::vector<ChatReader> readers;
  readers.reserve(static_cast<std::size_t>(settings.n_threads));
  for (int i = 0; i < settings.n_threads; ++i) readers.emplace_back(lines_of(tokenizer, known, settings), settings);
  LineBlockReader blocks({input}, columns_of_chats(settings.field));
  ChatOutput set(input, tokenizer, marks_of(tokenizer, known, settings), output, settings);
  const std::uint64_t done_bytes =
      read_blocks<BlockChats>(blocks, readers, settings.progress, [&](BlockChats& of_block) { set.add(of_block); });
  ChatPackSummary summary = set.commit();
  summary.input_bytes = done_bytes;
  return summary;
}

}  // namespace monomorph::data
