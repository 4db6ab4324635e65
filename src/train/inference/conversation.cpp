#include "train/inference/conversation.hpp"

#include "train/inference/text_generation.hpp"

#include <algorithm>

namespace monomorph::train {

GeneratedText Conversation::answer(std::vector<std::int32_t> prompt,
                                   const std::function<void(std::string_view)>& show) {
  keep_beginning_of(prompt);
  GenerationSettings settings = settings_;
  settings.max_tokens = std::min(settings.max_tokens, room(prompt));
  cached_ = prompt;
  TextGeneration text(session_, tokenizer_, settings, {std::move(prompt), {n_answers_++}}, sequence_);
  show(text.take(text.read_on()));
  while (!text.finished()) {
    const int sequence = sequence_;
    const std::int32_t id = text.last_id();
    cached_.push_back(id);
    show(text.take(session_.decode({&sequence, 1}, {&id, 1}).front()));
  }
  return std::move(text).result();
}

/// A sequence only grows, so that one which goes on otherwise, or has all of the prompt, is begun again.
void Conversation::keep_beginning_of(std::span<const std::int32_t> prompt) {
  const bool goes_on = cached_.size() < prompt.size() && std::ranges::equal(cached_, prompt.first(cached_.size()));
  if (goes_on || cached_.empty()) return;
  session_.close(sequence_);
  sequence_ = session_.open();
}

}  // namespace monomorph::train
