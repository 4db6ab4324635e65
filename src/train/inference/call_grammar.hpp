#pragma once
#include "train/inference/json_rules.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// How a model writes calls of tools: the forms that ToolCallFinder reads.
struct CallForm {
  bool marked = true;                   ///< between <tool_call> and </tool_call>, or nothing but calls
  std::string arguments = "arguments";  ///< how the member with these is called
  bool operator==(const CallForm&) const = default;
};

/// The form in which a template has written a call.
/// @param name, argument what the call has in the text, both there nowhere behind it
CallForm call_form_in(std::string_view text, std::string_view name, std::string_view argument);

/// A tool with the rule of its arguments.
struct CallableTool {
  std::string name;
  std::int32_t arguments;
};

/// Adds the rules of what a model writes that calls tools.
class CallGrammar {
 public:
  /// All must outlive it.
  CallGrammar(GrammarBuilder& builder, JsonRules& rules, const CallForm& form, const std::vector<CallableTool>& tools)
      : builder_(builder), rules_(rules), form_(form), tools_(tools) {}

  /// Calls and nothing else: one, or as many as the model likes.
  void add_calls(std::int32_t from, bool several, std::int32_t to);
  /// Text that has no calls but these, as the model likes. What begins as JSON is a call.
  void add_text_with_calls(std::int32_t from, std::int32_t to);

 private:
  void add_call(std::int32_t from, std::string_view arguments, std::int32_t to);
  void add_marked_call(std::int32_t behind_mark, std::int32_t to);

  GrammarBuilder& builder_;
  JsonRules& rules_;
  const CallForm& form_;
  const std::vector<CallableTool>& tools_;
};

}  // namespace monomorph::train
