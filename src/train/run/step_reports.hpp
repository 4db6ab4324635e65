#pragma once
#include "train/report/step_tracer.hpp"
#include "train/report/throughput.hpp"
#include "train/run/folder/run_log.hpp"

#include <monomorph/runtime/comm/parallel_groups.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/run_state.hpp>

namespace monomorph::train {

/// What the log is told of steps: their numbers, how fast they are and what memory they take. Rates are those of the
/// last interval of the log.
class StepReports {
 public:
  /// @param micro_batches of a rank in a step
  StepReports(const RecipeProgram& recipe, const Hparams& hparams, const World& world, const ParallelGroups& groups,
              std::int64_t micro_batches, TrainingStep& step, StepTracer& tracer, Communicator& communicator);
  StepReports(const StepReports&) = delete;

  /// Whether the numbers of a step are written to metrics.jsonl.
  bool is_logged(std::int64_t step) const {
    return step % hparams_.log.every.value == 0 || step == 1 || step == hparams_.run.steps.value;
  }
  Throughput& throughput() { return throughput_; }

  struct FinishedStep {
    const StepOutcome& outcome;
    double lr, loss_scale;  ///< with which it was made
    std::int64_t failed_saves;
  };
  /// To be called for every step, on every rank.   @param state behind it   @param log of rank 0, null on others
  void report(const FinishedStep& finished, const RunState& state, RunLog* log);

 private:
  void measure_rates(std::int64_t steps_left, RunLog* log);

  const RecipeProgram& recipe_;
  const Hparams& hparams_;
  const int ranks_;
  TrainingStep& step_;
  StepTracer& tracer_;
  Communicator& communicator_;
  Throughput throughput_;
  const std::int64_t planned_memory_bytes_;
  std::int64_t peak_memory_bytes_ = 0;  ///< the highest of all ranks
  double noted_peak_ = 0;
  Throughput::Rates rates_;
  std::optional<WorkSeconds> work_seconds_;
};

}  // namespace monomorph::train
