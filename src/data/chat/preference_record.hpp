#pragma once
#include "data/records/json_line_parser.hpp"

#include <monomorph/data/chat/chat_template.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// One of two answers, behind what it is an answer to: plain text, or messages, of which those that were asked do not
/// count.
struct Answered {
  std::string prompt, answer;
  std::vector<ChatMessage> messages;
};

struct PreferencePair {
  Answered chosen, rejected;
};

/// Takes pairs out of the records of a JSON Lines file: texts, or lists of messages. A record without a prompt has it
/// at the beginning of both answers: the messages, or the text, that both have in common. One per thread.
class PreferenceRecords {
 public:
  /// @param fields pointers to the prompt, the chosen and the rejected one   @param of_messages else of plain texts
  /// @throws [DATA-10] if one is no pointer
  PreferenceRecords(const std::array<std::string, 3>& fields, bool of_messages);

  /// @return a problem: [DATA-02] the line is no JSON; [PREF-01] it has no pair; [PREF-02] the two do not differ, or
  /// one says nothing; [CHAT-03] or [CHAT-04] a message is broken. LineBlock::padding_bytes after the line must be
  /// readable.
  std::optional<LineProblem> read(std::string_view line, PreferencePair& pair);

 private:
  std::vector<FieldPointer> fields_;
  bool of_messages_;
  JsonLineParser parser_;
};

}  // namespace monomorph::data
