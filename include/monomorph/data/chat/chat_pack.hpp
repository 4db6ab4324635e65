#pragma once
#include <monomorph/data/chat/chat_template.hpp>
#include <monomorph/data/chat/template_choice.hpp>
#include <monomorph/data/records/on_error.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::data {

/// What becomes of a chat that is longer than a sample.
enum class TooLong { truncate, skip, refuse };

struct ChatPackSettings {
  std::optional<TemplateChoice> chat_template = {};  ///< must be there; by a model's own only the assistant counts
  std::time_t now = std::time(nullptr);              ///< for templates of models that write the date
  std::int64_t sequence_length = 0;                  ///< tokens of a sample: the model's inputs
  ChatRoles counted_roles = assistant_alone;         ///< whose turns count in the loss
  std::string field = {};  ///< JSON Pointer to the messages; "": /messages, /conversations or the record itself
  TooLong too_long = TooLong::truncate;  ///< truncating keeps the beginning
  OnError on_error = OnError::stop;
  std::string report = {};  ///< where skipped lines are listed; beside the output if empty
  int n_threads = 1;
  ProgressCallback progress = {};
};

struct ChatPackSummary {
  std::int64_t n_records = 0;          ///< of the input
  std::int64_t n_skipped = 0;          ///< lines that are no chats
  std::int64_t n_too_long = 0;         ///< left out
  std::int64_t n_without_counted = 0;  ///< left out: no token of theirs counts
  std::int64_t n_truncated = 0;
  std::int64_t n_chats = 0;  ///< that were packed
  std::int64_t n_samples = 0;
  std::int64_t n_tokens = 0;       ///< of the output, padding included
  std::int64_t n_chat_tokens = 0;  ///< without padding
  std::int64_t n_counted = 0;      ///< tokens
  std::uint64_t input_bytes = 0;
  double fill() const { return n_tokens == 0 ? 0 : static_cast<double>(n_chat_tokens) / static_cast<double>(n_tokens); }
};

/// Writes the chats of JSON Lines as a packed file (.pbin) of samples with a loss mask (.mask) beside it. Both appear
/// whole or not at all. The bytes depend on the chats and the settings, not on the number of threads, nor on how many
/// files the chats are in.   @param inputs at least one
/// @throws [CHAT-02] to [CHAT-09], [CHAT-13], [CHAT-18]; [JINJA-02] and on; [DATA-02], [DATA-04], [DATA-10], [DATA-11],
/// [DATA-20], [DATA-21], [FILE-NN]
ChatPackSummary pack_chats(const std::vector<std::string>& inputs, const Tokenizer& tokenizer,
                           const std::string& output, const ChatPackSettings& settings);

}  // namespace monomorph::data
