#pragma once
#include "data/chat/templated_chat.hpp"
#include "data/records/json_line_parser.hpp"

#include <monomorph/data/chat/chat_template.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace monomorph::data {

struct AnsweredText {
  std::string prompt, answer;
};

/// One of two answers, behind what it is an answer to: plain text, or messages for a template that is known here or for
/// a model's own, of which those that were asked do not count.
using Answered = std::variant<AnsweredText, std::vector<ChatMessage>, TemplatedChat>;

struct PreferencePair {
  Answered chosen, rejected;
};

/// What records have, and what Answered is made of it.
enum class AnswerForm : std::uint8_t { text, messages, templated };

/// Takes pairs out of the records of a JSON Lines file: texts, or lists of messages, with a list of `tools` beside them
/// for a model's own template. A record without a prompt has it at the beginning of both answers: the messages, or the
/// text, that both have in common. One per thread.
class PreferenceRecords {
 public:
  /// @param fields pointers to the prompt, the chosen and the rejected one   @throws [DATA-10] if one is no pointer
  PreferenceRecords(const std::array<std::string, 3>& fields, AnswerForm form);

  /// @return a problem: [DATA-02] the line is no JSON; [PREF-01] it has no pair; [PREF-02] the two do not differ, or
  /// one says nothing; [CHAT-03], [CHAT-04] or [JINJA-05] a message is broken. LineBlock::padding_bytes after the line
  /// must be readable.
  std::optional<LineProblem> read(std::string_view line, PreferencePair& pair);

 private:
  std::vector<FieldPointer> fields_;
  AnswerForm form_;
  JsonLineParser parser_;
};

}  // namespace monomorph::data
