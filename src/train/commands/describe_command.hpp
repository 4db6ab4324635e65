#pragma once
#include "train/scaling/describe_scaling.hpp"

#include <monomorph/train/describe/recipe_program.hpp>

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace monomorph::train {

/// The options of `describe`: how many ranks, and the GPUs of which it predicts a step.
struct DescribeOptions {
  ScalingQuestion question;                     ///< without a GPU nothing is predicted
  std::optional<std::int64_t> micro_batch = 1;  ///< absent: "auto"
  bool searches = false;                        ///< for plans, instead of describing the recipe as it is
  std::string memory_snapshot;                  ///< a file for what lies where in a rank's memory; empty: none
  void add_to(CLI::App& app);
};

/// @throws UsageError [RANK-17] ranks that do not make groups of the recipe's sharding; [RUN-13] a global batch that
/// nothing asks for, or none where it is needed; as check(ScalingQuestion)
int run_describe(const RecipeProgram& recipe, const DescribeOptions& options);

}  // namespace monomorph::train
