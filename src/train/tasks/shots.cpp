#include "train/tasks/shots.hpp"

#include "data/text/characters.hpp"
#include "train/tasks/python_random.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace monomorph::train {
namespace {

using Indices = std::vector<std::size_t>;

[[noreturn]] void refuse_shots(std::size_t needed, std::size_t there, const std::string& what) {
  throw UsageError("TASK-03", fmt::format("--shots needs {} examples{}, and --shots-from has {}; lower it, or give a "
                                          "file with more",
                                          needed, what, there));
}

Indices without(const Indices& drawn, std::span<const Question> examples, const Question& question) {
  Indices others;
  std::ranges::copy_if(drawn, std::back_inserter(others),
                       [&](std::size_t i) { return examples[i].record != question.record; });
  return others;
}

/// One more is drawn than is needed, in case the question itself is among them.
Indices drawn_others(PythonRandom& random, std::span<const Question> examples, const Question& question,
                     std::size_t n) {
  if (examples.size() < n + 1) refuse_shots(n + 1, examples.size(), "");
  Indices shots = without(random.sample(examples.size(), n + 1), examples, question);
  if (shots.size() < n) {
    Indices pool(examples.size());
    std::iota(pool.begin(), pool.end(), std::size_t{0});
    pool = without(pool, examples, question);
    if (pool.size() < n) refuse_shots(n, pool.size(), " other than a question");
    shots = random.sample(pool.size(), n);
    for (std::size_t& shot : shots) shot = pool[shot];
  }
  shots.resize(n);
  return shots;
}

Indices first_of_subject(std::span<const Question> examples, const Question& question, std::size_t n) {
  Indices shots;
  for (std::size_t i = 0; i < examples.size() && shots.size() < n; ++i)
    if (examples[i].subject == question.subject) shots.push_back(i);
  if (shots.size() < n) refuse_shots(n, shots.size(), question.subject.empty() ? "" : " of " + question.subject);
  return shots;
}

}  // namespace

std::vector<Indices> choose_shots(Benchmark benchmark, std::span<const Question> questions,
                                  std::span<const Question> examples, const ShotSettings& settings) {
  std::vector<Indices> shots(questions.size());
  const std::size_t n = settings.shots;
  if (n == 0) return shots;
  if (benchmark == Benchmark::arc && examples.size() < n) refuse_shots(n, examples.size(), "");
  PythonRandom random(settings.seed);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    switch (benchmark) {
      case Benchmark::hellaswag:
        shots[i] = drawn_others(random, examples, questions[i], n);
        break;
      case Benchmark::arc:
        shots[i] = random.sample(examples.size(), n);
        break;
      case Benchmark::mmlu:
        shots[i] = first_of_subject(examples, questions[i], n);
        break;
    }
  }
  return shots;
}

std::string prompt_with_shots(Benchmark benchmark, const Question& question, std::span<const Question> examples,
                              std::span<const std::size_t> shots) {
  std::string prompt;
  if (benchmark == Benchmark::mmlu && !question.subject.empty())
    prompt = fmt::format("The following are multiple choice questions (with answers) about {}.\n\n",
                         data::replace_all(question.subject, "_", " "));
  for (const std::size_t shot : shots)
    prompt += examples[shot].prompt + " " + examples[shot].choices[examples[shot].answer] + "\n\n";
  return prompt + question.prompt;
}

}  // namespace monomorph::train
