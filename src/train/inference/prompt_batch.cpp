#include "train/inference/prompt_batch.hpp"

#include <utility>

namespace monomorph::train {

void PromptBatch::add(int sequence, std::span<const std::int32_t> tokens, Take take) {
  const PassSizes& most = session_.sizes();
  if (n_tokens_ + std::ssize(tokens) > most.tokens || std::ssize(prompts_) == most.wanted) read();
  prompts_.push_back({sequence, tokens, 1});
  takes_.push_back(std::move(take));
  n_tokens_ += std::ssize(tokens);
}

/// A prompt alone may be longer than a pass.
void PromptBatch::read() {
  const std::vector<Session::Addition> prompts = std::exchange(prompts_, {});
  const std::vector<Take> takes = std::exchange(takes_, {});
  n_tokens_ = 0;
  if (prompts.size() == 1) return takes.front()(session_.prefill(prompts.front().sequence, prompts.front().tokens));
  if (prompts.empty()) return;
  const std::span<const Logits> logits = session_.extend(prompts);
  for (std::size_t i = 0; i < takes.size(); ++i) takes[i](logits[i]);
}

}  // namespace monomorph::train
