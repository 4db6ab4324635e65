#include "train/run/step_reports.hpp"

#include "train/describe/batch_partition.hpp"
#include "train/describe/run_memory.hpp"
#include "train/scaling/roof.hpp"

#include <monomorph/core/quantity_text.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/train/step/objective_report.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <vector>

namespace monomorph::train {

StepReports::StepReports(const RecipeProgram& recipe, const Hparams& hparams, const World& world,
                         const ParallelGroups& groups, std::int64_t micro_batches, TrainingStep& step,
                         StepTracer& tracer, Communicator& communicator)
    : recipe_(recipe),
      hparams_(hparams),
      ranks_(world.size()),
      step_(step),
      tracer_(tracer),
      communicator_(communicator),
      throughput_(recipe.flops(micro_batch_of(hparams), groups.data.size()), recipe.planned.product_dtype, world.size(),
                  step.device_use().gpu,
                  roof_seconds(recipe.planned, step.device_use(), {world.size(), world.local_size()},
                               micro_batch_of(hparams), micro_batches),
                  recipe.n_params),
      planned_memory_bytes_(planned_memory(recipe, hparams, groups.data.size()).budgeted()) {}

void StepReports::report(const FinishedStep& finished, const RunState& state, RunLog* log) {
  const StepOutcome& outcome = finished.outcome;
  const std::int64_t left = hparams_.run.steps.value - state.step;
  const bool logs = is_logged(state.step);
  if (logs) measure_rates(left, log);
  if (log == nullptr) return;
  const bool has_norm = outcome.tokens > 0 && hparams_.optimizer.clip.mode.value != ClipMode::none;
  const StepReport report{.step = state.step,
                          .total_steps = hparams_.run.steps.value,
                          .loss = outcome.mean(outcome.loss),
                          .auxiliary_loss = outcome.auxiliary_loss
                                                ? std::optional(outcome.mean(*outcome.auxiliary_loss))
                                                : std::nullopt,
                          .objective_metrics = metric_values(recipe_.objective, outcome.metrics, outcome.tokens),
                          .lr = finished.lr,
                          .grad_norm = has_norm ? std::optional(outcome.gradient_norm) : std::nullopt,
                          .tokens_per_second = rates_.tokens_per_second,
                          .mfu = rates_.mfu,
                          .mfu_palm = rates_.mfu_palm,
                          .mfu_6n = rates_.mfu_6n,
                          .hfu = rates_.hfu,
                          .roof_fraction = rates_.roof_fraction,
                          .evaluation_seconds = rates_.evaluation_seconds,
                          .checkpoint_seconds = rates_.checkpoint_seconds,
                          .work_seconds = work_seconds_,
                          .peak_memory_bytes = peak_memory_bytes_,
                          .planned_memory_bytes = planned_memory_bytes_,
                          .data_wait_fraction = rates_.data_wait_fraction,
                          .seconds_left = rates_.seconds_left,
                          .skipped = state.skipped,
                          .failed_saves = finished.failed_saves,
                          .loss_scale = finished.loss_scale};
  log->step(report);
  if (logs) log->metrics(report, state.tokens);
}

/// Takes the worst rank's value of what differs between ranks, which costs one collective per interval of the log.
void StepReports::measure_rates(std::int64_t steps_left, RunLog* log) {
  rates_ = throughput_.report(steps_left);
  work_seconds_ = tracer_.take_sample();
  const std::int64_t local[] = {step_.device_use().peak_memory_bytes,
                                std::bit_cast<std::int64_t>(rates_.data_wait_fraction)};
  const std::vector<std::int64_t> words = all_gather_words(communicator_, local);
  peak_memory_bytes_ = 0;
  rates_.data_wait_fraction = 0;
  for (std::size_t i = 0; i < words.size(); i += std::size(local)) {
    peak_memory_bytes_ = std::max(peak_memory_bytes_, words[i]);
    rates_.data_wait_fraction = std::max(rates_.data_wait_fraction, std::bit_cast<double>(words[i + 1]));
  }
  if (const auto& peak = throughput_.peak(); log != nullptr && peak && peak->per_second > noted_peak_) {
    noted_peak_ = peak->per_second;
    log->note(fmt::format("MFU is relative to {}{} FLOP/s ({})", ranks_ == 1 ? "" : fmt::format("{} x ", ranks_),
                          format_count(peak->per_second), peak->source));
  }
}

}  // namespace monomorph::train
