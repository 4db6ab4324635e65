#pragma once
#include "train/run/folder/run_ownership.hpp"

#include <monomorph/train/inference/evaluation.hpp>
#include <monomorph/train/report/metrics.hpp>
#include <monomorph/train/report/progress.hpp>
#include <monomorph/train/report/tensorboard.hpp>
#include <monomorph/train/run/folder/run_folder.hpp>

#include <chrono>
#include <optional>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// What a run leaves for people to read: the run folder's description, the progress line, metrics.jsonl and
/// TensorBoard's event files. Only rank 0 has it.
class RunLog {
 public:
  /// @param ownership of the folders   @param last_step of the run so far: records of later steps are dropped, and
  /// checkpoints of later steps are set aside
  RunLog(RunOwnership ownership, const Hparams& hparams, const RecipeProgram& recipe,
         const std::optional<std::string>& resumed_from, std::int64_t last_step, const DescribedData& data, int ranks,
         int argc, char** argv);

  /// Checks, once a second at most, whether the run's folders and files still exist. What was removed is created again,
  /// with a line that says so; if that fails, a later call tries again.
  /// @param step that the run is at   @return whether something was created again   @throws RunTakenOver
  bool watch_folders(std::int64_t step);
  /// The same at once and for certain, because something is about to be written there.   @throws RunTakenOver; Error
  /// [RUN-02], [RUN-19], [FILE-…]
  bool restore_folders(std::int64_t step);
  /// The run goes on from an earlier step again: records of later ones are dropped.
  void go_back(std::int64_t step) { open_records(step, true); }
  /// Checks that the folders still belong to this run.   @throws RunTakenOver
  void check_ownership() const { static_cast<void>(ownership_.lost()); }

  void note(std::string_view line) { progress_.note(line); }
  /// To be called for every step: the progress line itself decides which it shows.
  void step(const StepReport& report) { progress_.step(report); }
  /// To be called for the steps that log.every selects.
  /// @param counted so far: tokens, or samples
  void metrics(const StepReport& report, std::int64_t counted);
  /// One record of all sets.
  void evaluation(std::int64_t step, const std::vector<NamedEvaluation>& sets);
  void finish() { progress_.finish(); }

 private:
  void set_aside(const std::optional<std::string>& resumed_from, std::int64_t last_step);
  void open_records(std::int64_t last_step, bool resumes);
  void make_anew(std::int64_t step);

  const Hparams hparams_;
  const ObjectiveReport objective_;
  RunOwnership ownership_;
  Progress progress_;
  RunFolder folder_;
  std::chrono::steady_clock::time_point last_look_ = std::chrono::steady_clock::now();
  bool said_that_it_failed_ = false;
  std::optional<MetricsWriter> metrics_;
  std::optional<EventWriter> events_;
};

}  // namespace monomorph::train
