#pragma once
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/machine/trace.hpp>

#include <array>
#include <optional>
#include <string>

namespace monomorph::train {

/// Traces n steps of a run, from the second on, and tells of single steps how much time each kind of work took. The
/// first step differs from the others: memory is touched for the first time, and no parameters were gathered in
/// advance.
class StepTracer {
 public:
  /// @param last_step of the run so far   @param n_steps 0: none are traced
  StepTracer(Communicator& communicator, std::int64_t last_step, std::int64_t n_steps, std::string run_folder);
  StepTracer(const StepTracer&) = delete;
  ~StepTracer() { record(nullptr); }

  /// Either call may complete the trace: it is then written, and the line that is returned says so.
  /// @param is_sampled the time of this step's work is to be told
  std::optional<std::string> step_begins(bool is_sampled);
  std::optional<std::string> run_ends();
  void step_ends();
  /// Until the end of the scope, in a step.
  StreamSpan waiting_for_data() {
    return {recording_, TraceRow::compute, "wait for data", no_unit, nullptr, Work::data};
  }

  /// Of the last step before the present one that was sampled, once: to be asked for when the present one has been
  /// read, so that no device is waited for. Absent if none was, or the device has not come to its end.
  std::optional<WorkSeconds> take_sample();

 private:
  void record(Trace* trace);
  std::string complete(std::int64_t last_traced);
  bool traces(std::int64_t step) const { return first_ <= step && step < first_ + n_steps_; }

  Communicator& communicator_;
  const std::int64_t first_, n_steps_;  ///< the first step that is traced; how many are
  std::int64_t present_;                ///< step that was begun last
  const std::string run_folder_;
  Trace trace_;
  std::array<Trace, 2> sampled_steps_;  ///< in turn, as one is begun before the one before is told of
  int next_sampled_ = 0;
  Trace* recording_ = nullptr;  ///< one of these, or none
  std::int64_t begin_ = 0;      ///< of the present step
  struct Sample {
    Trace* trace;
    std::int64_t step;
  };
  std::optional<Sample> present_sample_, last_sample_;
};

}  // namespace monomorph::train
