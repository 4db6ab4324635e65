#pragma once
#include "train/commands/generation_options.hpp"

namespace monomorph::train {

struct ChatOptions : GenerationOptions {
  std::string system, template_file, tools_file;
  void add_to(CLI::App& app);
};

/// Talks with a model by its chat template: a line of standard input is what the user says, and the answer is shown as
/// it grows. Where it calls tools, the next lines are what these give. Ends with the input, or at /exit.
/// @throws UsageError [CHAT-16], [CHAT-17], [CHAT-19], [JINJA-05], [RUN-11], [RUN-25], [RUN-29], [RUN-31]; Error
/// [JINJA-02], [JINJA-03], [JINJA-04]
int run_chat(const RecipeProgram& recipe, const ChatOptions& options);

}  // namespace monomorph::train
