#pragma once
#include "train/commands/generation_options.hpp"

namespace monomorph::train {

struct GenerateOptions : GenerationOptions {
  std::string prompt, prompt_file, input, json_schema;
  std::int64_t samples = 1, batch = 8;
  std::optional<std::int64_t> cache_tokens;
  void add_to(CLI::App& app);
};

/// Reads what can be read before ranks are started, so that mistakes are told once for all.
/// @param ranks that divide the texts   @throws UsageError [RUN-13], [RUN-25], [RUN-30], [FILE-NN]
void check_generate(const RecipeProgram& recipe, const GenerateOptions& options, int ranks);

/// Continues a prompt, and shows the text as it grows; or those of a file of JSON Lines, a line of JSON for each text,
/// which ranks that a launcher has started divide among them.
/// @throws UsageError as check_generate; [RUN-09], [RUN-11], [RUN-28], [RUN-29], [RUN-31], [RUN-32]
int run_generate(const RecipeProgram& recipe, const GenerateOptions& options);

}  // namespace monomorph::train
