#include "train/tasks/multiple_choice.hpp"

#include "data/text/python_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace monomorph::train {
namespace {

std::size_t most_probable(std::span<const double> values) {
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

/// How many of some questions have the right answer.
struct Count {
  double questions = 0, right = 0;
  /// The sum of squares of what each differs from the mean, over n - 1: the variance of a sample.
  double variance() const {
    const double mean = right / questions;
    return questions * mean * (1 - mean) / (questions - 1);
  }
};

}  // namespace

TextGroup choices_in_tokens(data::Encoder& encoder, const data::Tokenizer& tokenizer, const std::string& prompt,
                            std::span<const std::string> choices, std::int64_t context_length) {
  const std::string_view context = data::python::right_stripped(prompt);
  const std::string spaces = prompt.substr(context.size());
  const auto tokens_of = [&](const std::string& text) {
    const auto before = tokenizer.ids_before_text();
    std::vector<std::int32_t> ids(before.begin(), before.end());
    encoder.encode(text, ids);
    return ids;
  };
  const std::size_t n_context = tokens_of(std::string(context)).size();
  TextGroup group;
  for (const std::string& choice : choices) {
    std::vector<std::int32_t> ids = tokens_of(std::string(context) + spaces + " " + choice);
    const std::int64_t n_choice = std::ssize(ids) - static_cast<std::int64_t>(n_context);
    if (n_context == 0 || n_choice < 1 || n_choice > context_length)
      throw UsageError("TASK-04",
                       fmt::format("each choice must have from 1 to {} tokens behind its question, as the context has "
                                   "no more, and {} has {}; take the question out",
                                   context_length, in_quotes(choice.substr(0, 40)), n_choice));
    const std::int64_t surplus = std::max<std::int64_t>(0, std::ssize(ids) - context_length - 1);
    ids.erase(ids.begin(), ids.begin() + surplus);
    const std::int64_t first = std::ssize(ids) - n_choice;
    group.push_back({std::move(ids), first});
  }
  return group;
}

Answer answer_to(const Question& question, std::vector<double> log_likelihoods) {
  std::vector<double> by_length = log_likelihoods;
  for (std::size_t i = 0; i < by_length.size(); ++i)
    by_length[i] /= static_cast<double>(data::python::length_of(question.choices[i]));
  const std::size_t chosen = most_probable(log_likelihoods);
  return {std::move(log_likelihoods), chosen == question.answer, most_probable(by_length) == question.answer};
}

Accuracy accuracy_of(const std::vector<bool>& right, std::span<const std::string> subjects) {
  std::map<std::string_view, Count> counts;
  Count all;
  for (std::size_t i = 0; i < right.size(); ++i)
    for (Count* const count : {&counts[subjects[i]], &all}) {
      count->questions += 1;
      count->right += right[i] ? 1 : 0;
    }
  Accuracy accuracy{.mean = all.right / all.questions, .standard_error = {}};
  const double degrees = all.questions - static_cast<double>(counts.size());
  if (degrees < 1) return accuracy;
  double squares = 0;
  for (const auto& [subject, count] : counts)
    if (count.questions > 1) squares += (count.questions - 1) * count.variance();
  accuracy.standard_error = std::sqrt(squares / degrees / all.questions);
  return accuracy;
}

}  // namespace monomorph::train
