#pragma once
#include <monomorph/data/chat/chat_pack.hpp>

#include <array>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::data {

struct PreferencePackSettings {
  std::optional<TemplateChoice> chat_template = {};  ///< that chats are written by; none: records have plain texts
  std::time_t now = std::time(nullptr);              ///< for templates of models that write the date
  /// JSON Pointers to what both answers are answers to, to the one that was chosen and to the one that was rejected.
  std::array<std::string, 3> fields = {"/prompt", "/chosen", "/rejected"};
  std::string end_of_text = "<|endoftext|>";  ///< token that ends an answer in plain text
  std::int64_t sequence_length = 0;           ///< tokens of a sample, which holds both: the model's inputs
  TooLong too_long = TooLong::truncate;
  OnError on_error = OnError::stop;
  std::string report = {};  ///< where skipped lines are listed; beside the output if empty
  int n_threads = 1;
  ProgressCallback progress = {};
};

struct PreferencePackSummary {
  std::int64_t n_records = 0;          ///< of the input
  std::int64_t n_skipped = 0;          ///< lines that are no pairs
  std::int64_t n_too_long = 0;         ///< left out
  std::int64_t n_without_counted = 0;  ///< left out: cut, an answer had no token left
  std::int64_t n_truncated = 0;
  std::int64_t n_pairs = 0;            ///< that were packed, one a sample
  std::int64_t n_tokens = 0;           ///< of the output, padding included
  std::int64_t n_sequence_tokens = 0;  ///< without padding
  std::int64_t n_counted = 0;          ///< tokens
  std::uint64_t input_bytes = 0;
  double fill() const {
    return n_tokens == 0 ? 0 : static_cast<double>(n_sequence_tokens) / static_cast<double>(n_tokens);
  }
};

/// Writes pairs of answers to the same, of which one was chosen, as a packed file (.pbin) with a loss mask (.mask)
/// beside it: a pair is a sample of two documents, each what was asked and an answer, and a third of padding. Only the
/// tokens of answers count, with what ends them. The bytes depend on the pairs and the settings, not on the number of
/// threads, nor on how many files the pairs are in.   @param inputs at least one
/// @throws [PREF-01] to [PREF-04]; [CHAT-02] to [CHAT-06], [CHAT-13], [CHAT-18]; [JINJA-02] and on; [TOK-06];
/// [DATA-02], [DATA-04], [DATA-10], [DATA-11], [DATA-20], [DATA-21], [FILE-NN]
PreferencePackSummary pack_preferences(const std::vector<std::string>& inputs, const Tokenizer& tokenizer,
                                       const std::string& output, const PreferencePackSettings& settings);

}  // namespace monomorph::data
