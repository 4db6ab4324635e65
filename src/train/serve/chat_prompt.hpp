#pragma once
#include "train/inference/call_grammar.hpp"

#include <monomorph/data/chat/chat_template.hpp>
#include <monomorph/data/chat/template_choice.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::train {

/// A message of a conversation, with all that the API lets it have. What is empty, templates are not given.
struct PromptMessage {
  data::ChatMessage said;
  std::string name, call_id;      ///< who says it, or which tool; of which call a tool's result is
  data::jinja::Value calls = {};  ///< a list of dicts as templates want them: `arguments` is a dict; or none
  std::optional<std::string> reasoning = {};  ///< what the model thought before it said this; may be an empty text
};

/// The arguments of a call as templates want them: a dict. With a number beyond fp64, which their values have not, they
/// stay a text. Nothing if they are no JSON object.   @param what they are, for the message   @throws as value_of_json
std::optional<data::jinja::Value> arguments_for_template(std::string_view arguments, std::string_view what);

/// What makes a prompt of a conversation: all of its turns, and the beginning of the model's own.
class ChatPrompt {
 public:
  /// @param chat_template may be missing; then no chat can be written
  /// @param left_out tokens of the model's files that the tokeniser does not have, as the model has no rows for them
  /// @throws Error [CHAT-02] the template writes special tokens into every chat that the tokeniser does not have
  ChatPrompt(const data::Tokenizer& tokenizer, std::optional<data::TemplateChoice> chat_template,
             std::span<const data::AddedToken> left_out = {});

  /// Whether there is a template at all.
  bool known() const { return template_.has_value(); }
  /// Whether the template writes what tools there are, as ModelTemplate says.
  bool takes_tools() const { return of_model() != nullptr && of_model()->takes_tools(); }
  /// Whether it is one that may have variables.
  bool takes_variables() const { return of_model() != nullptr; }
  /// How the template writes the model's calls of tools, which is tried with one; as `{"name", "arguments"}` if it has
  /// a form that is not known here, or writes none.
  CallForm call_form() const;
  /// @param tools a list of dicts, or none   @param variables of the template, if it takes some   @throws Error
  /// [JINJA-02] and on; [CHAT-04], [CHAT-05] the template has no place for a message; [CHAT-13]
  std::vector<std::int32_t> ids(const std::vector<PromptMessage>& messages, const data::jinja::Value& tools,
                                const data::TemplateVariables& variables = {}) const;

 private:
  const data::ModelTemplate* of_model() const { return template_ ? template_->of_model() : nullptr; }

  const data::Tokenizer& tokenizer_;
  std::optional<data::TemplateChoice> template_;
};

}  // namespace monomorph::train
