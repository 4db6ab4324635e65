#pragma once
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

/// A call of a tool that a model has written.
struct ToolCall {
  std::string name;
  std::string arguments;  ///< the text of a JSON object, as the model has written it: it may have several lines
};

/// Finds calls of tools in an answer as it grows, in the forms in which models write them:
///  - `<tool_call>{"name": …, "arguments": {…}}</tool_call>`, as Hermes and Qwen do, with text around them or without;
///  - an answer that is such an object and nothing else, or several or a list of them, as Llama 3 and Mistral do;
/// `parameters` stands for `arguments`, too. What is no call of a tool that there is stays text, every byte of it;
/// white space beside a call is left out.
class ToolCallFinder {
 public:
  struct Found {
    std::string text;
    std::vector<ToolCall> calls;
    Found& operator+=(Found more);
  };

  /// @param names of the tools that there are
  explicit ToolCallFinder(std::set<std::string> names) : names_(std::move(names)) {}

  /// What can be shown when `more` has been written, too. The calls stand behind the text.
  Found push(std::string_view more);
  /// The rest, at the end of the answer.
  Found finish();

 private:
  enum class Form { unknown, text, objects };

  /// @param at_end no more will come, so that a mark ends a call wherever it stands
  void take_text(Found& found, bool at_end);
  /// @param end where the closing mark begins
  void take_marked_call(std::size_t end, Found& found);
  void show(std::string_view text, Found& found);
  void add(std::vector<ToolCall> calls, Found& found);
  /// Nothing unless the text is calls and nothing else.
  std::optional<std::vector<ToolCall>> calls_of(std::string_view text) const;

  std::set<std::string> names_;
  Form form_ = Form::unknown;
  std::string held_;   ///< nobody knows yet what it is
  std::string space_;  ///< that is shown if text follows, and not if a call does
  bool in_call_ = false, after_call_ = false, has_shown_ = false;
};

}  // namespace monomorph::train
