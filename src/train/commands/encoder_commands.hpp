#pragma once
#include "train/commands/held_out_options.hpp"

namespace monomorph::train {

struct RetrieveOptions : HeldOutOptions {
  bool bag_of_words = false;
  void add_to(CLI::App& app);
};
/// How well a checkpoint of an encoder finds the second text of held-out samples, given the first.
/// @throws UsageError [RUN-26] the recipe's model is no encoder; [RUN-12]; as evaluate
int run_retrieve(const RecipeProgram& recipe, const RetrieveOptions& options);

struct EmbedOptions : CheckpointOptions {
  std::string input = "-";
  void add_to(CLI::App& app);
};
/// Writes a line of JSON for each line of text: the text and its embedding.   @throws UsageError [RUN-26], [RUN-11]
int run_embed(const RecipeProgram& recipe, const EmbedOptions& options);

}  // namespace monomorph::train
