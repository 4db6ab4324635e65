#include "data/chat_sample_packer.hpp"
#include "data/chat_set_writer.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat_encoder.hpp>
#include <monomorph/data/chat_pack.hpp>
#include <monomorph/data/chat_record.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace monomorph::data {
namespace {

constexpr std::int64_t longest_sequence = std::int64_t{1} << 24;

void check_settings(const ChatPackSettings& settings) {
  if (settings.sequence_length < 2 || settings.sequence_length > longest_sequence) {
    throw UsageError(fmt::format("[CHAT-09] a sample of {} tokens: --sequence-length must lie in 2..{}",
                                 settings.sequence_length, longest_sequence));
  }
  if (settings.counted_roles.none()) throw UsageError("[CHAT-09] no role counts in the loss; name one with --roles");
}

/// One run over the records of a file.
class ChatPacking {
 public:
  ChatPacking(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
              const ChatPackSettings& settings)
      : lines_(input),
        settings_(settings),
        template_(find_chat_template(settings.chat_template)),
        records_(settings.field),
        encoder_(tokenizer, template_, settings.counted_roles),
        writer_(output, tokenizer, template_, settings.sequence_length, tokenizer.find(template_.end_token).value()),
        packer_(settings.sequence_length, [this](const auto& chats) { write_sample(chats); }) {}

  ChatPackSummary run() {
    while (const auto line = lines_.next()) {
      ++summary_.n_records;
      if (auto chat = encode(*line)) add(std::move(*chat), *line);
    }
    if (summary_.n_records == 0) {
      throw UsageError("[DATA-04] " + in_quotes(lines_.path()) + " is empty; give a file with at least one chat");
    }
    packer_.flush();
    if (summary_.n_samples == 0) throw_nothing_counts();
    const LossMaskHeader written = writer_.commit();
    summary_.n_tokens = static_cast<std::int64_t>(written.n_tokens);
    summary_.n_counted = static_cast<std::int64_t>(written.n_counted);
    return summary_;
  }

 private:
  std::string place(const Line& line) const {
    return fmt::format("{}, line {}", in_quotes(lines_.path()), line.number);
  }

  /// Nothing if the record is broken and left out.
  std::optional<EncodedChat> encode(const Line& line) {
    try {
      return encoder_.encode(records_.of(line, lines_.path()), place(line));
    } catch (const Error& error) {
      if (!settings_.on_broken_record) throw;
      settings_.on_broken_record(error.what());
      ++summary_.n_broken;
      return std::nullopt;
    }
  }

  void add(EncodedChat chat, const Line& line) {
    const auto size = static_cast<std::size_t>(settings_.sequence_length);
    bool truncated = false;
    if (chat.ids.size() > size) {
      if (settings_.too_long == TooLong::skip) {
        ++summary_.n_too_long;
        return;
      }
      if (settings_.too_long == TooLong::refuse) {
        throw Error(
            fmt::format("[CHAT-07] {}: the chat has {} tokens, and a sample {}; choose --on-too-long truncate or "
                        "skip, or a longer sequence",
                        place(line), chat.ids.size(), size));
      }
      chat.ids.resize(size);
      chat.counted.resize(size);
      truncated = true;
    }
    if (std::find(chat.counted.begin() + 1, chat.counted.end(), true) == chat.counted.end()) {
      ++summary_.n_without_counted;
      return;
    }
    summary_.n_truncated += truncated ? 1 : 0;
    ++summary_.n_chats;
    summary_.n_chat_tokens += static_cast<std::int64_t>(chat.ids.size());
    packer_.add(std::move(chat));
  }

  void write_sample(const std::vector<const EncodedChat*>& chats) {
    writer_.add_sample(chats);
    ++summary_.n_samples;
  }

  [[noreturn]] void throw_nothing_counts() const {
    throw Error(fmt::format(
        "[CHAT-08] {} has no chat to train on: of {} records {} are broken, {} too long, and in {} no token "
        "counts; see --roles, --on-too-long and --sequence-length",
        in_quotes(lines_.path()), summary_.n_records, summary_.n_broken, summary_.n_too_long,
        summary_.n_without_counted));
  }

  LineReader lines_;
  const ChatPackSettings& settings_;
  const ChatTemplate& template_;
  ChatRecords records_;
  ChatEncoder encoder_;
  ChatSetWriter writer_;
  ChatSamplePacker packer_;
  ChatPackSummary summary_;
};

}  // namespace

ChatPackSummary pack_chats(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
                           const ChatPackSettings& settings) {
  check_settings(settings);
  return ChatPacking(input, tokenizer, output, settings).run();
}

}  // namespace monomorph::data
