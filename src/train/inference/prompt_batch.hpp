#pragma once
#include <monomorph/train/step/session.hpp>

#include <functional>

namespace monomorph::train {

/// Prompts that go through the model together, as many as fit a pass: its products are of more rows, and its threads
/// have more to share.
class PromptBatch {
 public:
  using Take = std::function<void(Logits behind_prompt)>;

  explicit PromptBatch(Session& session) : session_(session) {}

  /// A prompt of an open sequence, of any length. Where it does not fit beside those before it, they are read now.
  /// @param tokens which stay where they are until they are read
  /// @param take is told what follows them   @throws as Session::extend
  void add(int sequence, std::span<const std::int32_t> tokens, Take take);
  /// Reads what has been added.   @throws same
  void read();

 private:
  Session& session_;
  std::vector<Session::Addition> prompts_;
  std::vector<Take> takes_;
  std::int64_t n_tokens_ = 0;
};

}  // namespace monomorph::train
