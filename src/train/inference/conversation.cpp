#include "train/inference/conversation.hpp"

#include "train/inference/text_generation.hpp"

#include <algorithm>

namespace monomorph::train {

GeneratedText Conversation::answer(std::vector<std::int32_t> prompt, const std::function<void(std::string_view)>& show,
                                   const std::function<bool()>& stops) {
  keep_beginning_of(prompt);
  GenerationSettings settings = settings_;
  settings.max_tokens = std::min(settings.max_tokens, room(prompt));
  cached_ = prompt;
  TextGeneration text(session_, tokenizer_, settings, {std::move(prompt), {n_answers_++}}, sequence_);
  show(text.take(text.read_on()));
  while (!text.finished()) {
    if (stops()) {
      show(text.end_here());
      break;
    }
    const int sequence = sequence_;
    const std::int32_t id = text.last_id();
    cached_.push_back(id);
    show(text.take(session_.decode({&sequence, 1}, {&id, 1}).front()));
  }
  return std::move(text).result();
}

/// A sequence only grows, so that a prompt which goes on otherwise than what is cached, or is the beginning of it, has
/// a new sequence, behind the whole pages that they have in common. A token is left that says what follows.
void Conversation::keep_beginning_of(std::span<const std::int32_t> prompt) {
  const std::int64_t common = std::ranges::mismatch(cached_, prompt).in1 - cached_.begin();
  if (common == std::ssize(cached_) && common < std::ssize(prompt)) return;
  const std::int64_t kept = std::min(common, std::ssize(prompt) - 1) / PagedTokens::page * PagedTokens::page;
  const int next = session_.fork(sequence_, kept);
  session_.close(sequence_);
  sequence_ = next;
}

}  // namespace monomorph::train
