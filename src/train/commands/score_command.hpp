#pragma once
#include "train/commands/checkpoint_options.hpp"

#include <optional>

namespace monomorph::train {

struct ScoreOptions : CheckpointOptions {
  std::string text, text_file, input;
  std::optional<std::int64_t> stride;
  void add_to(CLI::App& app);
};

/// How probable the tokens of a text are, or of those of a file of JSON Lines: a line of JSON for each text.
/// @throws UsageError [RUN-11], [RUN-25], [SCORE-01] to [SCORE-03]
int run_score(const RecipeProgram& recipe, const ScoreOptions& options);

}  // namespace monomorph::train
