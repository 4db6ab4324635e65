#pragma once
#include "data/records/json_line_parser.hpp"

#include <monomorph/data/chat/chat_template.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace monomorph::data {

/// The messages of a list, at least one.   @param numbers_are_kept as JsonLineParser::visit says
/// @throws [CHAT-03] it is empty, or no list; [CHAT-04] a message is broken
std::vector<ChatMessage> read_chat_messages(const simdjson::dom::element& list, bool numbers_are_kept);

/// Where a record has its messages.   @param field nothing: as ChatRecords says for ""   @throws [CHAT-03] nowhere
simdjson::dom::element find_chat_messages(const simdjson::dom::element& record,
                                          const std::optional<FieldPointer>& field);

/// Takes the messages out of the records of a JSON Lines file: `{"role", "content"}`, as OpenAI and Hugging Face have
/// them, or `{"from", "value"}`, as ShareGPT has. One per thread.
class ChatRecords {
 public:
  /// @param field where a record has its messages, a JSON Pointer; "": at /messages or, if that is absent, at
  /// /conversations; or the record is the list itself   @throws [DATA-10] if it is no pointer
  explicit ChatRecords(const std::string& field);

  /// At least one message. A content may be a list of parts of text, which are joined. Problems are [DATA-02] if the
  /// line is no JSON, [CHAT-03] if it has no messages, [CHAT-04] if one of them is broken.
  /// LineBlock::padding_bytes after the line must be readable.
  std::variant<std::vector<ChatMessage>, LineProblem> of(std::string_view line);

 private:
  std::optional<FieldPointer> field_;
  JsonLineParser parser_;
};

}  // namespace monomorph::data
