#pragma once
#include <monomorph/data/chat/template_choice.hpp>

#include <CLI/CLI.hpp>

#include <ctime>
#include <optional>
#include <string>

namespace monomorph::tools {

/// How chats are written, and the day that a model's own template may write.
struct TemplateOption {
  std::string name, date, variables;  ///< variables: a JSON object
  /// @param without what is done without the option
  void add_to(CLI::App& command, const std::string& without);
  /// That of the option; nothing without it.
  /// @throws UsageError as TemplateChoice::named; [CHAT-09] there is a date, and nothing that writes one; [CHAT-20],
  /// [CHAT-21]
  std::optional<data::TemplateChoice> choice() const;
  /// That of the option, else that of the model in the folder.   @throws UsageError also [CHAT-17] it has none
  data::TemplateChoice choice_or_of(const std::string& folder) const;
  /// @throws UsageError [CHAT-20]
  data::TemplateVariables given_variables() const;
  /// Noon of the day.   @throws UsageError [CHAT-09] it is none
  std::time_t now() const;
};

}  // namespace monomorph::tools
