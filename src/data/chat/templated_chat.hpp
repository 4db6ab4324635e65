#pragma once
#include "data/records/json_line_parser.hpp"

#include <monomorph/data/jinja/value.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// A chat as a model's own template is given it.
struct TemplatedChat {
  std::vector<jinja::Value> messages;  ///< dicts with at least `role`, otherwise as the record has them
  jinja::Value tools;                  ///< a list, or none
  std::vector<bool> counted;           ///< by message: the assistant's, unless the record leaves it out of the loss
};

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
