#pragma once
#include "train/inference/constraint.hpp"
#include "train/inference/held_tokens.hpp"
#include "train/inference/stop_texts.hpp"

#include <monomorph/train/inference/generate.hpp>

#include <exception>
#include <optional>

namespace monomorph::train {

/// The generation of one text: its sequence in a session, what chooses its tokens, and what of it can be shown.
class TextGeneration {
 public:
  TextGeneration(Session& session, const data::Tokenizer& tokenizer, const GenerationSettings& settings,
                 TextRequest request);
  /// In an open sequence, which has the beginning of the prompt, and stays open.
  TextGeneration(Session& session, const data::Tokenizer& tokenizer, const GenerationSettings& settings,
                 TextRequest request, int sequence);
  TextGeneration(const TextGeneration&) = delete;
  ~TextGeneration() {
    if (closes_) session_.close(sequence_);
  }

  TextNumber number() const { return number_; }
  int sequence() const { return sequence_; }
  bool finished() const { return finished_; }
  bool context_is_full() const { return session_.length(sequence_) == session_.context_length(); }
  std::int32_t last_id() const { return ids_.back(); }
  /// What was chosen last: a token of the text, or the one that ended it.
  std::int32_t drawn() const { return drawn_; }
  /// Brings the prompt, which fits the context, into the session, and shows the logits behind each of its tokens.
  Logits read_prompt(const std::function<void(Logits)>& show);
  /// Begins a sequence anew: its tokens, which the session has not read yet, are the prompt or, when the context is
  /// full, the second half of what there is.
  std::span<const std::int32_t> begin_again();
  /// Brings those into the session.
  Logits read_again() { return session_.prefill(sequence_, begin_again()); }
  /// Brings what the sequence lacks of the prompt into the session.
  Logits read_on() {
    return session_.prefill(sequence_, std::span(ids_).subspan(static_cast<std::size_t>(session_.length(sequence_))));
  }
  /// Chooses the next token. Texts may do so at the same time on several threads; what goes wrong is thrown by the
  /// accept that follows.
  void choose(Logits logits) noexcept;
  /// Makes the chosen token the text's next one.   @return what more can be shown   @throws [RUN-14] as Sampler::draw
  std::string accept();
  std::string take(Logits logits) {
    choose(logits);
    return accept();
  }
  /// Ends the text with what it has.   @return what more can be shown
  std::string end_here() { return finish(FinishReason::stop); }
  GeneratedText result() && { return std::move(result_); }

 private:
  data::StreamDecoder decoder_behind_prompt();
  bool ends_text(std::int32_t id) const;
  bool holds_stop_text() const;
  std::int32_t draw(Logits named);
  std::string without_prompt(std::string decoded);
  std::string finish(FinishReason reason);

  Session& session_;
  const data::Tokenizer& tokenizer_;
  const GenerationSettings& settings_;
  TextNumber number_;
  int sequence_;
  bool closes_ = true;
  std::vector<std::int32_t> ids_;  ///< with the prompt's
  Sampler sampler_;
  std::int32_t drawn_ = -1;
  std::exception_ptr failure_;  ///< of the choice
  std::string held_of_prompt_;  ///< whole characters that the decoder still holds, which are no part of this text
  std::size_t n_signs_of_prompt_ = 0;  ///< U+FFFD in place of what it holds of the prompt, if it comes to nothing
  HeldTokens held_;                    ///< with those of the prompt
  data::StreamDecoder decoder_;
  StopTexts stop_texts_;
  std::optional<ConstrainedText> constrained_;
  std::vector<float> masked_;
  GeneratedText result_;
  bool finished_ = false;
};

/// Each text chooses its next token, on as many threads as there are: a vocabulary is large beside the work that a GPU
/// leaves to the host.
void choose_all(std::span<TextGeneration* const> texts, std::span<const Logits> logits);

}  // namespace monomorph::train
