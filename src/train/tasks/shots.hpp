#pragma once
#include "train/tasks/questions.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace monomorph::train {

/// Which examples stand before a question.
struct ShotSettings {
  std::size_t shots = 0;
  std::uint32_t seed = 1234;  ///< of the draws, for which lm-evaluation-harness has this, too
};

/// By question, the examples before it, as lm-evaluation-harness chooses them: of MMLU the first of the same subject,
/// of the others drawn, one question after the other; HellaSwag leaves out the question itself.
/// @throws UsageError [TASK-03] there are too few examples
std::vector<std::vector<std::size_t>> choose_shots(Benchmark benchmark, std::span<const Question> questions,
                                                   std::span<const Question> examples, const ShotSettings& settings);

/// What a question's answers follow: what MMLU says of its subject, the examples with their answers, the question.
std::string prompt_with_shots(Benchmark benchmark, const Question& question, std::span<const Question> examples,
                              std::span<const std::size_t> shots);

}  // namespace monomorph::train
