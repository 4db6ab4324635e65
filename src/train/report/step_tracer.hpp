#pragma once
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/machine/trace.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// Traces n steps of a run, from the second on. The first step differs from the others: memory is touched for the first
/// time, and no parameters were gathered in advance.
class StepTracer {
 public:
  /// @param last_step of the run so far   @param n_steps 0: none are traced
  StepTracer(Communicator& communicator, std::int64_t last_step, std::int64_t n_steps, std::string run_folder);
  StepTracer(const StepTracer&) = delete;
  ~StepTracer() { communicator_.record(nullptr); }

  /// Either call may complete the trace: it is then written, and the line that is returned says so.
  std::optional<std::string> step_begins();
  std::optional<std::string> run_ends();

 private:
  std::string complete(std::int64_t last_traced);

  Communicator& communicator_;
  const std::int64_t first_, n_steps_;  ///< the first step that is traced; how many are
  std::int64_t present_;                ///< step that was begun last
  bool records_ = false;
  const std::string run_folder_;
  Trace trace_;
};

}  // namespace monomorph::train
