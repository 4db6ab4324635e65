#pragma once
#include "support/catch.hpp"

#include <monomorph/train/step/generating_step.hpp>
#include <monomorph/train/step/session.hpp>

namespace monomorph::testing {

/// What is planned for so many sequences of a model, each as long as the context, and passes of so many tokens.
inline train::Session session_of(train::InferenceModel& model, std::int64_t n_sequences, std::int64_t tokens,
                                 std::int64_t context_length) {
  Owned<train::TokenPass> pass = model.token_pass({.tokens = tokens,
                                                   .wanted = n_sequences,
                                                   .sequences = n_sequences,
                                                   .pages = n_sequences * train::pages_of(context_length)});
  REQUIRE(pass != nullptr);  // the step must be a GeneratingStep
  return train::Session(std::move(pass));
}

/// One sequence, fed token by token.
class OneSequence {
 public:
  OneSequence(train::InferenceModel& model, std::int64_t context_length)
      : session_(session_of(model, 1, 1, context_length)), sequence_(session_.open()) {}

  void reset() {
    session_.close(sequence_);
    sequence_ = session_.open();
  }
  std::int64_t length() const { return session_.length(sequence_); }
  std::int64_t capacity() const { return session_.context_length(); }
  /// The logits of what comes behind the token.
  const float* feed(std::int32_t token) { return session_.prefill(sequence_, {&token, 1}).data(); }

 private:
  train::Session session_;
  int sequence_;
};

}  // namespace monomorph::testing
