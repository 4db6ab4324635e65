#pragma once
#include <monomorph/train/inference/generate.hpp>

#include <functional>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// Texts each of which continues the one before, in a sequence of a session: of a prompt that begins as the last text
/// did, only what is new goes through the model, and of one that goes on otherwise what stands behind their last common
/// page of the cache.
class Conversation {
 public:
  /// All must outlive it.   @param session with two sequences at least, of which one is open between answers
  Conversation(Session& session, const data::Tokenizer& tokenizer, const GenerationSettings& settings)
      : session_(session), tokenizer_(tokenizer), settings_(settings), sequence_(session.open()) {}
  Conversation(const Conversation&) = delete;
  ~Conversation() { session_.close(sequence_); }

  /// Tokens that the context has left for an answer; 0 or less: none.
  std::int64_t room(std::span<const std::int32_t> prompt) const {
    return session_.context_length() - std::ssize(prompt);
  }
  /// Continues a prompt for which there is room, up to the end of the context at most.
  /// @param show is given more of the text as soon as its characters are complete
  /// @param stops is asked after each token whether the answer ends there   @throws Error [RUN-14]
  GeneratedText answer(
      std::vector<std::int32_t> prompt, const std::function<void(std::string_view)>& show,
      const std::function<bool()>& stops = [] { return false; });

 private:
  void keep_beginning_of(std::span<const std::int32_t> prompt);

  Session& session_;
  const data::Tokenizer& tokenizer_;
  const GenerationSettings& settings_;
  int sequence_;
  std::vector<std::int32_t> cached_;  ///< what the sequence has
  std::uint32_t n_answers_ = 0;
};

}  // namespace monomorph::train
