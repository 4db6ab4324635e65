#include "train/run/folder/run_log.hpp"

#include "train/run/folder/evaluation_metric.hpp"

#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <limits>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

std::vector<std::string> tags_of(std::string_view prefix, const std::vector<NamedMetric>& metrics) {
  std::vector<std::string> tags;
  for (const auto& [name, value] : metrics) tags.push_back(fmt::format("{}{}", prefix, name));
  return tags;
}

/// What a record and an event say of one set: the names of metrics, and behind them the set's if it has one.
void append_evaluation(const NamedEvaluation& set, std::vector<std::pair<std::string, MetricValue>>& metrics,
                       std::vector<std::pair<std::string, double>>& scalars) {
  const EvaluationResult& result = set.result;
  for (const auto& [name, value] : result.reported()) {
    metrics.emplace_back(evaluation_metric(name, set.name), value);
    scalars.emplace_back(fmt::format("evaluation/{}{}{}", name, set.name.empty() ? "" : "/", set.name), value);
  }
  metrics.emplace_back(evaluation_metric(result.over_tokens ? "tokens" : "samples", set.name), result.tokens);
}

/// The names of kinds of work, in metrics behind "work_seconds." and in TensorBoard behind "work/".
std::vector<std::pair<std::string_view, double>> named(const std::optional<WorkSeconds>& known) {
  if (!known) return {};
  const WorkSeconds& seconds = *known;
  return {{"products", seconds.products}, {"attention", seconds.attention}, {"elementwise", seconds.elementwise},
          {"loss", seconds.loss},         {"optimizer", seconds.optimizer}, {"collectives", seconds.collectives},
          {"copies", seconds.copies},     {"data", seconds.data},           {"other", seconds.other},
          {"step", seconds.whole()}};
}

}  // namespace

RunLog::RunLog(RunOwnership ownership, const Hparams& hparams, const RecipeProgram& recipe,
               const std::optional<std::string>& resumed_from, std::int64_t last_step, const DescribedData& data,
               int ranks, int argc, char** argv)
    : hparams_(hparams),
      objective_(recipe.objective),
      ownership_(std::move(ownership)),
      progress_(STDOUT_FILENO, hparams.log.every.value),
      folder_((set_aside(resumed_from, last_step), hparams), recipe, resumed_from, data, ranks, argc, argv) {
  open_records(last_step, resumed_from || folder_.held_a_run());
}

/// Comes before any file says that the run was resumed.
void RunLog::set_aside(const std::optional<std::string>& resumed_from, std::int64_t last_step) {
  if (!resumed_from) return;
  if (const auto aside = runtime::set_aside_later(checkpoint_folder(hparams_), last_step))
    note(fmt::format("the checkpoints of later steps, which this run does not go on from, are now in {}", *aside));
}

/// @param resumes records of steps after the last one are dropped, as these steps will be repeated
void RunLog::open_records(std::int64_t last_step, bool resumes) {
  metrics_.emplace(resumes ? MetricsWriter::resume(folder_.file("metrics.jsonl"), last_step)
                           : MetricsWriter::create(folder_.file("metrics.jsonl")));
  if (hparams_.log.tensorboard.value)
    events_.emplace(folder_.file(""), resumes ? std::optional(last_step + 1) : std::nullopt);
}

bool RunLog::watch_folders(std::int64_t step) {
  const auto now = std::chrono::steady_clock::now();
  if (now - last_look_ < std::chrono::seconds(1)) return false;
  last_look_ = now;
  try {
    return restore_folders(step);
  } catch (const RunTakenOver&) {
    throw;
  } catch (const Error& failure) {  // it may pass before the next save, which tries again
    if (!std::exchange(said_that_it_failed_, true))
      note(fmt::format("warning: what was removed of the run's folders can't be made anew yet: {}", failure.what()));
    return false;
  }
}

/// The folders may be moved away again while they are made anew. What was written is theirs then, and all of it begins
/// again.
void RunLog::make_anew(std::int64_t step) {
  for (int attempts_left = most_attempts_in_moving_folders;; --attempts_left) {
    try {
      ownership_.take_again(hparams_);
      folder_.write();
      open_records(step, true);
      return;
    } catch (const Error&) {
      if (attempts_left <= 1 || !ownership_.lost()) throw;
    }
  }
}

bool RunLog::restore_folders(std::int64_t step) {
  if (!ownership_.lost() && folder_.is_complete() && metrics_->is_in_place()) return false;
  make_anew(step);
  said_that_it_failed_ = false;
  note(fmt::format(
      "warning: [RUN-22] files of the run were removed or moved while it went on: what was missing in {} is "
      "made anew at step {}, with a checkpoint, and without the records and checkpoints that are gone",
      in_quotes(hparams_.run.output_dir.value), step));
  return true;
}

void RunLog::metrics(const StepReport& report, std::int64_t counted) {
  std::vector<Metric> metrics{{"loss", report.loss}};
  metrics.insert(metrics.end(), report.objective_metrics.begin(), report.objective_metrics.end());
  metrics.insert(metrics.end(), {{"lr", report.lr},
                                 {"grad_norm", report.grad_norm.value_or(nan)},
                                 {objective_.counted(), counted},
                                 {"tokens_per_second", report.tokens_per_second},
                                 {"mfu", report.mfu.value_or(nan)},
                                 {"mfu_palm", report.mfu_palm.value_or(nan)},
                                 {"mfu_6n", report.mfu_6n.value_or(nan)},
                                 {"hfu", report.hfu.value_or(nan)},
                                 {"roof_fraction", report.roof_fraction.value_or(nan)},
                                 {"peak_memory_bytes", report.peak_memory_bytes},
                                 {"planned_memory_bytes", report.planned_memory_bytes},
                                 {"data_wait_fraction", report.data_wait_fraction},
                                 {"evaluation_seconds", report.evaluation_seconds},
                                 {"checkpoint_seconds", report.checkpoint_seconds},
                                 {"skipped", report.skipped},
                                 {"loss_scale", report.loss_scale}});
  if (report.auxiliary_loss) metrics.push_back({"auxiliary_loss", *report.auxiliary_loss});
  if (hparams_.checkpoint.on_failure.value == OnFailedSave::go_on)
    metrics.push_back({"failed_saves", report.failed_saves});
  const auto work = named(report.work_seconds);
  std::vector<std::string> work_names;
  for (const auto& [name, seconds] : work) work_names.push_back(fmt::format("work_seconds.{}", name));
  for (std::size_t i = 0; i < work.size(); ++i) metrics.emplace_back(work_names[i], work[i].second);
  metrics_->write(report.step, metrics);
  if (!events_) return;
  const std::vector<std::string> tags = tags_of("train/", report.objective_metrics);
  std::vector<Scalar> scalars{{"train/loss", report.loss},
                              {"train/lr", report.lr},
                              {"train/grad_norm", report.grad_norm.value_or(nan)},
                              {"train/loss_scale", report.loss_scale},
                              {"speed/tokens_per_second", report.tokens_per_second},
                              {"speed/mfu", report.mfu.value_or(nan)},
                              {"speed/mfu_palm", report.mfu_palm.value_or(nan)},
                              {"speed/mfu_6n", report.mfu_6n.value_or(nan)},
                              {"speed/hfu", report.hfu.value_or(nan)},
                              {"speed/roof_fraction", report.roof_fraction.value_or(nan)},
                              {"speed/data_wait_fraction", report.data_wait_fraction},
                              {"memory/peak_bytes", static_cast<double>(report.peak_memory_bytes)},
                              {"memory/planned_bytes", static_cast<double>(report.planned_memory_bytes)}};
  for (std::size_t i = 0; i < tags.size(); ++i) scalars.emplace_back(tags[i], report.objective_metrics[i].second);
  if (report.auxiliary_loss) scalars.push_back({"train/auxiliary_loss", *report.auxiliary_loss});
  std::vector<std::string> work_tags;
  for (const auto& [name, seconds] : work) work_tags.push_back(fmt::format("work/{}", name));
  for (std::size_t i = 0; i < work.size(); ++i) scalars.emplace_back(work_tags[i], work[i].second);
  events_->write(report.step, scalars);
}

void RunLog::evaluation(std::int64_t step, const std::vector<NamedEvaluation>& sets) {
  std::vector<std::pair<std::string, MetricValue>> metrics;
  std::vector<std::pair<std::string, double>> scalars;
  for (const NamedEvaluation& set : sets) {
    progress_.note(fmt::format("evaluation{} after step {}: {}", set.name.empty() ? "" : " of " + set.name, step,
                               evaluation_text(set.result)));
    append_evaluation(set, metrics, scalars);
  }
  metrics_->write(step, std::vector<Metric>(metrics.begin(), metrics.end()));
  if (events_) events_->write(step, std::vector<Scalar>(scalars.begin(), scalars.end()));
}

}  // namespace monomorph::train
