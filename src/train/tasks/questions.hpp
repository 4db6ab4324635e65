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

/// Reads JSON Lines or Parquet with what Hugging Face's data sets have: HellaSwag's activity_label, ctx_a and ctx_b (or
/// ctx), endings and label; ARC's question, choices with text and label, and answerKey; MMLU's question, four choices,
/// answer and subject. ARC and MMLU may be as they were published, too (for_each_record). Files may be compressed.
/// @param files a path, or a pattern (data::expand_inputs)
/// @throws UsageError [TASK-01], [TASK-06] as for_each_record; [TASK-02] there are no questions; [DATA-74]
std::vector<Question> read_questions(Benchmark benchmark, const std::string& files);

}  // namespace monomorph::train
