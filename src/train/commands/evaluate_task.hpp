#pragma once
#include "train/commands/evaluate_command.hpp"
#include "train/tasks/questions.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/runtime/comm/communicator.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

struct NamedTask {
  Benchmark benchmark;
  std::string files;  ///< a path, or a pattern
};
/// What --task says; absent if it is not NAME=FILE with the name of a benchmark.
std::optional<NamedTask> task_of(const std::string& text);

/// What a benchmark needs beside the model.
struct TaskData {
  std::string checkpoint;
  std::unique_ptr<const data::Tokenizer> tokenizer;
  std::string note;  ///< of the tokeniser; may be empty
  Benchmark benchmark;
  std::vector<Question> questions, examples;
  std::vector<std::vector<std::size_t>> shots;  ///< by question, those of the examples that stand before it

  /// @throws UsageError as run_evaluate
  TaskData(const RecipeProgram& recipe, const EvaluateOptions& options);
};

/// That the file of answers can be written, before anything is asked, as they would be lost.
/// @param path may be empty   @throws UsageError [FILE-NN]
void check_file_of_answers(const std::string& path);

/// Asks a model the questions, divided among the ranks, each of which has the whole model, and says how many it answers
/// right.   @throws as run_evaluate
std::string evaluate_task(const RecipeProgram& recipe, const EvaluateOptions& options, Communicator& communicator);

}  // namespace monomorph::train
