#include "train/commands/evaluate_task.hpp"

#include "core/as_usage_error.hpp"
#include "core/is_there.hpp"
#include "train/commands/text_model.hpp"
#include "train/inference/share_numbers.hpp"
#include "train/tasks/multiple_choice.hpp"
#include "train/tasks/shots.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/records/input_list.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

namespace monomorph::train {
namespace {

/// Questions that are scored together. They are cut the same way on any number of ranks, so that no bit depends on it.
constexpr std::size_t questions_at_once = 32;

/// By question, the log-likelihoods of its choices.
using Likelihoods = std::vector<std::vector<double>>;

/// Fills in the likelihoods of the block of questions that starts at `begin`.
void score_block(const TaskData& data, std::size_t begin, Session& session, data::Encoder& encoder,
                 Likelihoods& likelihoods) {
  const std::size_t end = std::min(begin + questions_at_once, data.questions.size());
  std::vector<TextGroup> groups;
  for (std::size_t q = begin; q < end; ++q)
    groups.push_back(
        choices_in_tokens(encoder, *data.tokenizer,
                          prompt_with_shots(data.benchmark, data.questions[q], data.examples, data.shots[q]),
                          data.questions[q].choices, session.context_length()));
  const std::vector<GroupScores> scores = score(session, groups);
  for (std::size_t q = begin; q < end; ++q)
    for (std::size_t c = 0; c < data.questions[q].choices.size(); ++c) {
      const std::vector<double>& tokens = scores[q - begin][c];
      likelihoods[q][c] = std::accumulate(tokens.begin(), tokens.end(), 0.0);
    }
}

/// Gives all ranks the likelihoods that each has computed.
void share(Communicator& communicator, Likelihoods& likelihoods) {
  std::vector<double> numbers;
  for (const std::vector<double>& of_question : likelihoods)
    numbers.insert(numbers.end(), of_question.begin(), of_question.end());
  share_numbers(communicator, numbers);
  auto number = numbers.begin();
  for (std::vector<double>& of_question : likelihoods)
    for (double& likelihood : of_question) likelihood = *number++;
}

Likelihoods likelihoods_of(const RecipeProgram& recipe, const TaskData& data, Communicator& communicator) {
  const LoadedModel model(recipe, data.checkpoint);
  data::Encoder encoder(*data.tokenizer);
  Likelihoods likelihoods;
  for (const Question& question : data.questions) likelihoods.emplace_back(question.choices.size(), 0.0);
  const auto rank = static_cast<std::size_t>(communicator.rank()),
             ranks = static_cast<std::size_t>(communicator.size());
  with_session(model, request_for_scores(recipe), [&](Session& session) {
    for (std::size_t begin = rank * questions_at_once; begin < data.questions.size();
         begin += ranks * questions_at_once)
      score_block(data, begin, session, encoder, likelihoods);
  });
  return likelihoods;
}

std::string accuracy_text(const Accuracy& accuracy) {
  return fmt::format("{:.4f}{}", accuracy.mean,
                     accuracy.standard_error ? fmt::format(" ± {:.4f}", *accuracy.standard_error) : "");
}

/// The result of all questions, or of those of one subject.
std::string line_of(const TaskData& data, const std::vector<Answer>& answers,
                    const std::optional<std::string>& subject) {
  std::vector<bool> right, right_by_length;
  std::vector<std::string> subjects;
  for (std::size_t q = 0; q < answers.size(); ++q) {
    if (subject && data.questions[q].subject != *subject) continue;
    right.push_back(answers[q].right);
    right_by_length.push_back(answers[q].right_by_length);
    subjects.push_back(data.questions[q].subject);
  }
  std::string text = "acc " + accuracy_text(accuracy_of(right, subjects));
  if (data.benchmark != Benchmark::mmlu)  // whose choices have one length
    text += ", acc_norm " + accuracy_text(accuracy_of(right_by_length, subjects));
  return text + fmt::format(" ({} questions)\n", right.size());
}

std::string report(const TaskData& data, const std::vector<Answer>& answers) {
  std::string text = fmt::format("{}: {}", name_of(data.benchmark), line_of(data, answers, std::nullopt));
  std::set<std::string> subjects;
  for (const Question& question : data.questions) subjects.insert(question.subject);
  if (subjects.size() > 1)
    for (const std::string& subject : subjects)
      text += fmt::format("  {}: {}", subject.empty() ? "(no subject)" : subject, line_of(data, answers, subject));
  return text;
}

void write_answers(const TaskData& data, const std::vector<Answer>& answers, const std::string& path) {
  std::string lines;
  for (std::size_t q = 0; q < answers.size(); ++q) {
    nlohmann::ordered_json line{{"index", q}};
    if (!data.questions[q].subject.empty()) line["subject"] = data.questions[q].subject;
    line["log_likelihoods"] = answers[q].log_likelihoods;
    line["answer"] = data.questions[q].answer;
    line["acc"] = answers[q].right ? 1 : 0;
    line["acc_norm"] = answers[q].right_by_length ? 1 : 0;
    lines += line.dump() + "\n";
  }
  write_text_file(path, lines);
}

/// Answers must not take the place of what they answer.   @throws UsageError [TASK-07]
void check_is_not_read(const std::string& output, const std::string& files) {
  for (const std::string& path : data::expand_inputs({files})) {
    std::error_code none_of_them;  // one that is not there yet is no file of these
    if (std::filesystem::equivalent(path, output, none_of_them))
      throw UsageError("TASK-07", fmt::format("{} is read and would be replaced by the answers; name another --output",
                                              in_quotes(path)));
  }
}

}  // namespace

std::optional<NamedTask> task_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals + 1 == text.size()) return std::nullopt;
  const auto benchmark = benchmark_of(text.substr(0, equals));
  if (!benchmark) return std::nullopt;
  return NamedTask{*benchmark, text.substr(equals + 1)};
}

TaskData::TaskData(const RecipeProgram& recipe, const EvaluateOptions& options) {
  check_predicts_next_token(recipe);
  const NamedTask task = *task_of(options.task);
  if (options.shots.has_value() == options.shots_from.empty())
    throw UsageError("TASK-05",
                     "--shots and --shots-from belong together, as examples must be none of the questions "
                     "that are asked; give both, or neither");
  checkpoint = find_checkpoint(options.checkpoint);
  RunTokenizer loaded = options.required_tokenizer(checkpoint, checkpoint_hparams(checkpoint, recipe), recipe);
  tokenizer = std::move(loaded.tokenizer);
  note = std::move(loaded.note);
  benchmark = task.benchmark;
  const auto read = [&](const char* option, const std::string& files) {
    return as_usage_error(option, [&] {
      if (!options.output.empty()) check_is_not_read(options.output, files);
      return read_questions(benchmark, files);
    });
  };
  questions = read("--task", task.files);
  if (!options.shots_from.empty()) examples = read("--shots-from", options.shots_from);
  ShotSettings settings{.shots = static_cast<std::size_t>(options.shots.value_or(0))};
  if (options.shots_seed) settings.seed = static_cast<std::uint32_t>(*options.shots_seed);
  shots = choose_shots(benchmark, questions, examples, settings);
}

void check_file_of_answers(const std::string& path) {
  const bool is_pipe = is_there(path) && !is_file(path) && !is_folder(path);  // whose reader would see its end
  if (!path.empty() && !is_pipe) as_usage_error("--output", [&] { AtomicFile{path}; });
}

std::string evaluate_task(const RecipeProgram& recipe, const EvaluateOptions& options, Communicator& communicator) {
  const TaskData data = together(communicator, "read the task", [&] { return TaskData(recipe, options); });
  const std::string output = communicator.rank() == 0 ? options.output : "";
  together(communicator, "create the file of answers", [&] { check_file_of_answers(output); });
  if (communicator.rank() == 0) write_note(data.note);
  Likelihoods likelihoods =
      together(communicator, "ask the questions", [&] { return likelihoods_of(recipe, data, communicator); });
  share(communicator, likelihoods);
  std::vector<Answer> answers;
  for (std::size_t q = 0; q < likelihoods.size(); ++q)
    answers.push_back(answer_to(data.questions[q], std::move(likelihoods[q])));
  together(communicator, "write the answers", [&] {
    if (!output.empty()) write_answers(data, answers, output);
  });
  return report(data, answers);
}

}  // namespace monomorph::train
