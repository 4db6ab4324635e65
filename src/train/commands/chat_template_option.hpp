#pragma once
#include <monomorph/data/chat/template_choice.hpp>

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace monomorph::train {

/// How a command that talks with a model writes chats.
struct ChatTemplateOption {
  std::string name, variables;  ///< variables: a JSON object
  void add_to(CLI::App& app);
  /// That of the option, else what TemplateChoice::usual finds in the folder of the model's tokeniser.
  /// @throws UsageError [CHAT-01], [CHAT-16], [CHAT-17], [CHAT-20], [CHAT-21], [JINJA-01], [FILE-NN]
  std::optional<data::TemplateChoice> choice(const data::Tokenizer& tokenizer, const std::string& folder) const;
};

}  // namespace monomorph::train
