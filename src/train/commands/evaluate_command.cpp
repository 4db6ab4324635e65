#include "train/commands/evaluate_command.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/evaluate_task.hpp"
#include "train/commands/forward_memory.hpp"
#include "train/run/data/run_tokenizer.hpp"
#include "train/run/ranks/peer_failure.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>

#include <chrono>
#include <utility>

namespace monomorph::train {
namespace {

/// What an evaluation on held-out data needs beside the model.
struct HeldOutData {
  std::string checkpoint;
  Hparams hparams;
  HeldOutSets sets;
  std::vector<std::int32_t> bytes_per_token;
  std::string note;  ///< of the tokeniser; may be empty

  HeldOutData(const RecipeProgram& recipe, const EvaluateOptions& options)
      : checkpoint(find_checkpoint(options.checkpoint)),
        hparams(checkpoint_hparams(checkpoint, recipe)),
        sets(options.sets(recipe, hparams)) {
    const std::string tokenizer_file = options.tokenizer_file(checkpoint, hparams);
    if (tokenizer_file.empty()) return;
    RunTokenizer loaded = read_run_tokenizer(tokenizer_file, recipe);
    note = std::move(loaded.note);
    bytes_per_token = data::token_byte_lengths(*loaded.tokenizer);
    for (const auto& [name, loader] : sets) check_ids(loader, bytes_per_token);
    if (!recipe.objective.over_tokens || !recipe.predicts_next_token) bytes_per_token.clear();
  }
};

std::string evaluate_held_out(const RecipeProgram& recipe, const EvaluateOptions& options, Communicator& communicator) {
  const HeldOutData data =
      together(communicator, "read the held-out data", [&] { return HeldOutData(recipe, options); });
  const std::int64_t micro_batch = options.micro_batch_or(data.hparams);
  RecipeProgram alone = recipe;
  if (recipe.teacher != nullptr) alone.objective.metrics.clear();  // they compare with a teacher, which is not here
  return advised_on_memory(micro_batch_memory(recipe, communicator.size(), micro_batch), [&](bool& begun) {
    const auto model = together(communicator, "load the checkpoint", [&] {
      return restored_model(recipe, data.checkpoint, micro_batch, data.hparams.loss.policy, communicator);
    });
    begun = true;
    if (communicator.rank() == 0) write_note(data.note);
    std::string text;
    for (const auto& [name, result] :
         evaluate_sets(alone, *model, communicator, data.sets, micro_batch, data.bytes_per_token, std::nullopt))
      text += (name.empty() ? "" : name + ": ") + evaluation_text(result) + "\n";
    return text;
  });
}

/// NAME=FILE, with the name of a benchmark.
std::string check_task(const std::string& text) {
  return task_of(text) ? "" : "must be NAME=FILE, with the name hellaswag, arc or mmlu";
}

std::string evaluate(const RecipeProgram& recipe, const EvaluateOptions& options, Communicator& communicator) {
  return options.task.empty() ? evaluate_held_out(recipe, options, communicator)
                              : evaluate_task(recipe, options, communicator);
}

}  // namespace

void EvaluateOptions::add_to(CLI::App& app) {
  HeldOutOptions::add_to(app, "packed file", "sequences");
  auto* const benchmark =
      app.add_option("--task", task,
                     "NAME=FILE: hellaswag, arc or mmlu, and a file or a pattern, in place of held-out data")
          ->check(CLI::Validator(check_task, "NAME=FILE"));
  benchmark->excludes(app.get_option("--data"))->excludes(app.get_option("--micro-batch"));
  add_number(app, "--shots", shots, "answered examples before each question, none if it is not given", {1, 1000})
      ->needs(benchmark);
  app.add_option("--shots-from", shots_from, "file of them, or a pattern, as those of the task")->needs(benchmark);
  add_number(app, "--shots-seed", shots_seed, "of the choice of examples; 1234 if it is not given", {0, 4'294'967'295})
      ->needs(benchmark);
  app.add_option("--output", output, "writes a line of JSON for each question")->needs(benchmark);
}

void check_evaluate(const RecipeProgram& recipe, const EvaluateOptions& options) {
  if (options.task.empty()) {
    const HeldOutData data(recipe, options);
    return;
  }
  const TaskData data(recipe, options);
  check_file_of_answers(options.output);
}

int run_evaluate(const RecipeProgram& recipe, const EvaluateOptions& options) {
  constexpr std::chrono::minutes longest_wait{5};
  const World world = connect(longest_wait);
  const auto communicator = connect_for_command(recipe, world);
  try {
    const std::string text = evaluate(recipe, options, *communicator);
    if (world.rank() == 0) show(text);
    return 0;
  } catch (const RankFailure& failure) {
    exit_on_peer_failure(world, failure, "evaluating");
  }
}

}  // namespace monomorph::train
