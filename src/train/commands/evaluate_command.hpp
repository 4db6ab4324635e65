#pragma once
#include "train/commands/held_out_options.hpp"

namespace monomorph::train {

struct EvaluateOptions : HeldOutOptions {
  std::string task, shots_from, output;
  std::optional<std::int64_t> shots, shots_seed;
  void add_to(CLI::App& app);
};

/// Reads what is evaluated, so that mistakes are told before ranks are started, once for all.
/// @throws UsageError as run_evaluate
void check_evaluate(const RecipeProgram& recipe, const EvaluateOptions& options);

/// The loss of a checkpoint on held-out sets, or the share of a benchmark's questions that it answers right: by one
/// process, or by the ranks that a launcher has started. Rank 0 shows the result, whose bits do not depend on their
/// number.
/// @throws UsageError [RUN-12], [RUN-15], [EVAL-01]; [RUN-11], [RUN-25], [TASK-01] to [TASK-06], [DATA-74], [DATA-80]
int run_evaluate(const RecipeProgram& recipe, const EvaluateOptions& options);

}  // namespace monomorph::train
