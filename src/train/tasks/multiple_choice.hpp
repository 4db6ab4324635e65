#pragma once
#include "train/tasks/questions.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/train/inference/scoring.hpp>

#include <span>
#include <string>
#include <vector>

namespace monomorph::train {

/// A prompt with each of its choices, cut into tokens as lm-evaluation-harness does it: spaces at the prompt's end
/// belong to the choice, and of a text that is longer than the context the end counts.
/// @throws UsageError [TASK-04] a choice has no tokens of its own, or more than the context
TextGroup choices_in_tokens(data::Encoder& encoder, const data::Tokenizer& tokenizer, const std::string& prompt,
                            std::span<const std::string> choices, std::int64_t context_length);

/// Which choice a model takes.
struct Answer {
  std::vector<double> log_likelihoods;  ///< by choice, natural logarithms
  bool right = false;                   ///< the most probable one is right: "acc"
  bool right_by_length = false;         ///< so is that with the highest log-likelihood per character: "acc_norm"
};
Answer answer_to(const Question& question, std::vector<double> log_likelihoods);

/// A share of questions, and the standard error of that estimate; absent of a single question.
struct Accuracy {
  double mean = 0;
  std::optional<double> standard_error;
};

/// Of questions of several subjects the error is pooled, as lm-evaluation-harness does it for MMLU.
/// @param right by question   @param subjects by question
Accuracy accuracy_of(const std::vector<bool>& right, std::span<const std::string> subjects);

}  // namespace monomorph::train
