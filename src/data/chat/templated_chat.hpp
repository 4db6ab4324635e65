#pragma once
#include "data/records/json_line_parser.hpp"

#include <monomorph/data/jinja/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// A message as a model's own template is given it.
struct TemplatedMessage {
  jinja::Value said;  ///< a dict with at least `role`, otherwise as the record has it
  bool counted;       ///< the assistant's is, unless the record leaves it out of the loss
};

struct TemplatedChat {
  std::vector<TemplatedMessage> messages;
  jinja::Value tools;  ///< a list, or none
};

/// The messages of a list, at least one.   @param numbers_are_kept as JsonLineParser::visit says
/// @throws [CHAT-03] it is empty, or no list; [CHAT-04] a message is broken, or numbers are lost; [JINJA-05]
std::vector<TemplatedMessage> read_templated_messages(const simdjson::dom::element& list, bool numbers_are_kept);

/// The list of tools of a record, or none.   @throws [CHAT-04] it is no list; [JINJA-05]
jinja::Value read_tools(const simdjson::dom::element& record);

/// Takes such chats out of the records of a JSON Lines file: the messages where ChatRecords looks for them, and beside
/// them a list of `tools`. One per thread.
class TemplatedChatRecords {
 public:
  /// @param field as that of ChatRecords   @throws [DATA-10] if it is no pointer
  explicit TemplatedChatRecords(const std::string& field);

  /// @return a problem: [DATA-02] the line is no JSON; [CHAT-03] it has no messages; [CHAT-04] one of them is broken,
  /// or the tools are. LineBlock::padding_bytes after the line must be readable.
  std::optional<LineProblem> read(std::string_view line, TemplatedChat& chat);

 private:
  std::optional<FieldPointer> field_;
  JsonLineParser parser_;
};

}  // namespace monomorph::data
