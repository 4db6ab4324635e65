#pragma once
#include <monomorph/train/evaluation.hpp>
#include <monomorph/train/metrics.hpp>
#include <monomorph/train/progress.hpp>
#include <monomorph/train/run_folder.hpp>
#include <monomorph/train/tensorboard.hpp>

#include <optional>
#include <string_view>

namespace monomorph::train {

/// What a run leaves for people to read: the run folder's description, the progress line, metrics.jsonl and
/// TensorBoard's event files. One rank has it.
class RunLog {
 public:
  /// @param last_step of the run so far: later records of an earlier attempt go
  RunLog(const Hparams& hparams, const RecipeProgram& recipe, const std::optional<std::string>& resumed_from,
         std::int64_t last_step, const TrainFiles& files, int ranks, int argc, char** argv);

  void note(std::string_view line) { progress_.note(line); }
  /// Of every step: the progress line decides what it shows.
  void step(const StepReport& report) { progress_.step(report); }
  /// Of a step at the log's interval.
  void metrics(const StepReport& report, std::int64_t tokens);
  void evaluation(std::int64_t step, const EvaluationResult& result);
  void finish() { progress_.finish(); }

 private:
  RunFolder folder_;
  MetricsWriter metrics_;
  std::optional<EventWriter> events_;
  Progress progress_;
};

}  // namespace monomorph::train
