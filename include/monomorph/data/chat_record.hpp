#pragma once
#include <monomorph/data/chat_template.hpp>
#include <monomorph/data/input_file.hpp>

#include <memory>
#include <string>
#include <vector>

namespace monomorph::data {

/// Takes the messages out of the records of a JSON Lines file: `{"role", "content"}`, as OpenAI and Hugging Face have
/// them, or `{"from", "value"}`, as ShareGPT has.
class ChatRecords {
 public:
  /// @param field where a record has its messages, a JSON Pointer; "": in /messages or, if that is absent, in
  /// /conversations   @throws [DATA-10] if it is no pointer
  explicit ChatRecords(std::string field);
  ChatRecords(ChatRecords&&) noexcept;
  ~ChatRecords();

  /// At least one message. A content may be a list of parts of text, which are joined.
  /// @throws [DATA-02] if the line is no JSON; [CHAT-03] if it has no messages; [CHAT-04] if one of them is broken
  std::vector<ChatMessage> of(const Line& line, const std::string& path);

 private:
  struct Parser;
  std::string field_;
  std::unique_ptr<Parser> parser_;
};

}  // namespace monomorph::data
