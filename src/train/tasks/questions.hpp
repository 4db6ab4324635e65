#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// The benchmarks whose questions are known, as lm-evaluation-harness 0.4 asks them.
enum class Benchmark { hellaswag, arc, mmlu };
std::string_view name_of(Benchmark benchmark);
std::optional<Benchmark> benchmark_of(std::string_view name);

/// A question of multiple choice: the model is to find the right choice most probable behind the prompt and a space.
struct Question {
  std::string prompt{};
  std::vector<std::string> choices{};
  std::size_t answer = 0;
  std::string subject{};  ///< of MMLU; empty where there is none
  std::string record{};   ///< by which questions are told apart
};

/// Reads JSON Lines, compressed or not, or Parquet, with what Hugging Face's data sets have: HellaSwag's
/// activity_label, ctx_a and ctx_b (or ctx), endings and label; ARC's question, choices with text and label, and
/// answerKey; MMLU's question, four choices, answer and subject.
/// @throws UsageError [TASK-01] a line is no such question; [TASK-02] there are none; as data::TextInput
std::vector<Question> read_questions(Benchmark benchmark, const std::string& path);

}  // namespace monomorph::train
