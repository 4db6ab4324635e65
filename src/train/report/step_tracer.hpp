#pragma once
#include <monomorph/runtime/comm/communicator.hpp>

#include <optional>

namespace monomorph::train {

/// Traces a run's second to n+1st step. The first is not like the others: memory is touched for the first time, and
/// nothing was gathered ahead.
class StepTracer {
 public:
  /// @param last_step of the run so far   @param n_steps 0: none are traced
  StepTracer(Communicator& communicator, std::int64_t last_step, std::int64_t n_steps, std::string run_folder);
  StepTracer(const StepTracer&) = delete;
  ~StepTracer() { communicator_.record(nullptr); }

  /// Either may complete the trace: then it is written, and said in a line.
  std::optional<std::string> step_begins();
  std::optional<std::string> run_ends();

 private:
  std::string complete(std::int64_t last_traced);

  Communicator& communicator_;
  const std::int64_t first_, n_steps_;  ///< that is traced; how many
  std::int64_t present_;                ///< step that was begun last
  bool records_ = false;
  const std::string run_folder_;
  Trace trace_;
};

}  // namespace monomorph::train
