#pragma once
#include <monomorph/data/chat_template.hpp>
#include <monomorph/data/tokenizer.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace monomorph::data {

/// What becomes of a chat that is longer than a sample.
enum class TooLong { truncate, skip, refuse };

struct ChatPackSettings {
  std::string chat_template;         ///< its name
  std::int64_t sequence_length = 0;  ///< tokens of a sample: the model's inputs
  ChatRoles counted_roles = 1u << static_cast<unsigned>(ChatRole::assistant);  ///< whose turns count in the loss
  std::string field = {};                                                      ///< as ChatRecords
  TooLong too_long = TooLong::truncate;                                        ///< truncating keeps the beginning
  /// If set, a broken record is handed to it and left out.
  std::function<void(const std::string& message)> on_broken_record = {};
};

struct ChatPackSummary {
  std::int64_t n_records = 0;          ///< of the input
  std::int64_t n_broken = 0;           ///< left out
  std::int64_t n_too_long = 0;         ///< left out
  std::int64_t n_without_counted = 0;  ///< left out: no token of theirs counts
  std::int64_t n_truncated = 0;
  std::int64_t n_chats = 0;  ///< that were packed
  std::int64_t n_samples = 0;
  std::int64_t n_tokens = 0;       ///< of the output, padding included
  std::int64_t n_chat_tokens = 0;  ///< without padding
  std::int64_t n_counted = 0;      ///< tokens
  double fill() const { return n_tokens == 0 ? 0 : static_cast<double>(n_chat_tokens) / static_cast<double>(n_tokens); }
};

/// Writes the chats of a JSON Lines file as a packed file (.pbin) of samples with a loss mask (.mask) beside it. Both
/// appear whole or not at all. The bytes depend on the input and the settings only.
/// @throws [CHAT-01] to [CHAT-09], [CHAT-13]; [DATA-02], [DATA-04], [DATA-10], [FILE-NN]
ChatPackSummary pack_chats(const std::string& input, const Tokenizer& tokenizer, const std::string& output,
                           const ChatPackSettings& settings);

}  // namespace monomorph::data
