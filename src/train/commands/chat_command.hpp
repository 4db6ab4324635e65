#pragma once
#include "train/commands/chat_template_option.hpp"
#include "train/commands/generation_options.hpp"

namespace monomorph::train {

struct ChatOptions : GenerationOptions {
  std::string system, tools_file;
  ChatTemplateOption chat_template;
  void add_to(CLI::App& app);
};

/// Talks with a model by its chat template: a line of standard input is what the user says, and the answer is shown as
/// it grows. Where it calls tools, the next lines are what these give. Ends with the input, or at /exit.
/// @throws UsageError [CHAT-02], [CHAT-17], [CHAT-19], [JINJA-05], [RUN-25]; as load_text_model; Error [JINJA-02],
/// [JINJA-03], [JINJA-04], [CHAT-04], [CHAT-05]
int run_chat(const RecipeProgram& recipe, const ChatOptions& options);

}  // namespace monomorph::train
