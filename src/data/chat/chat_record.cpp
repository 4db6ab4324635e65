#include "data/chat/chat_record.hpp"

#include "data/records/json_kind.hpp"
#include "data/records/line_failure.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <simdjson.h>

namespace monomorph::data {
namespace {

namespace dom = simdjson::dom;

/// Reads one message; errors name it.
class ChatMessageReader {
 public:
  ChatMessageReader(std::size_t index, bool numbers_are_kept)
      : number_(index + 1), numbers_are_kept_(numbers_are_kept) {}

  ChatMessage read(dom::element message) const {
    if (!message.is_object()) fail("it is {}, not an object with role and content", json_kind(message));
    const bool as_sharegpt = !find_member(message, "role") && find_member(message, "from");
    refuse_tool_calls(message);
    return {.role = role(message, as_sharegpt ? "from" : "role"),
            .content = content(message, as_sharegpt ? "value" : "content"),
            .counted = is_counted(message)};
  }

 private:
  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    throw Error("CHAT-04", fmt::format("message {}: {}; mend the record", number_,
                                       fmt::format(text, std::forward<Arguments>(arguments)...)));
  }

  dom::element member(dom::element message, const char* name) const {
    const auto value = find_member(message, name);
    if (!value) fail("it has no \"{}\"", name);
    return *value;
  }

  ChatRole role(dom::element message, const char* name) const {
    const dom::element value = member(message, name);
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) fail("its \"{}\" is {}, not text", name, json_kind(value));
    const auto role = find_chat_role(text);
    if (!role) {
      fail("there is no role {}; roles are system, user (human), assistant (gpt, model) and tool", in_quotes(text));
    }
    return *role;
  }

  std::string content(dom::element message, const char* name) const {
    const dom::element value = member(message, name);
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) return std::string(text);
    dom::array parts;
    if (value.get(parts) != simdjson::SUCCESS) fail("its \"{}\" is {}, not text", name, json_kind(value));
    std::string joined;
    for (const dom::element part : parts) joined += part_text(part, name);
    return joined;
  }

  std::string_view part_text(dom::element part, const char* name) const {
    std::string_view text, type;
    if (part.get(text) == simdjson::SUCCESS) return text;
    if (!find_text(part, "type", type)) fail("a part of its \"{}\" is neither text nor has a type", name);
    if (type != "text") fail("a part of its \"{}\" is of type {}, and only text is read", name, in_quotes(type));
    if (!find_text(part, "text", text)) fail("a part of its \"{}\" has no \"text\"", name);
    return text;
  }

  static bool find_text(dom::element part, const char* name, std::string_view& text) {
    const auto value = find_member(part, name);
    return value && value->get(text) == simdjson::SUCCESS;
  }

  /// Dropping what the assistant did would teach it to say nothing.
  void refuse_tool_calls(dom::element message) const {
    for (const char* name : {"tool_calls", "function_call"}) {
      const auto value = find_member(message, name);
      if (!value || value->is_null()) continue;
      dom::array calls;
      if (value->get(calls) == simdjson::SUCCESS && calls.size() == 0) continue;
      fail("it has \"{}\", which no template here can write", name);
    }
  }

  /// OpenAI's mark on a message: weight 0 leaves it out of the loss.
  bool is_counted(dom::element message) const {
    const auto value = find_member(message, "weight");
    if (!value || value->is_null()) return true;
    if (!numbers_are_kept_) fail("its \"weight\" cannot be read, as the record has a number beyond 64 bits");
    double weight = -1;
    if (value->get(weight) != simdjson::SUCCESS || (weight != 0 && weight != 1))
      fail("its \"weight\" is neither 0 nor 1");
    return weight == 1;
  }

  std::size_t number_;
  bool numbers_are_kept_;
};

}  // namespace

dom::element find_chat_messages(const dom::element& record, const std::optional<FieldPointer>& field) {
  dom::element value = record;
  if (field) {
    if (!find_field(value, *field)) {
      throw Error("CHAT-03", fmt::format("the record has no field {}; name the field of the messages with --field",
                                         in_quotes(field->text())));
    }
  } else if (!value.is_array()) {
    auto found = find_member(record, "messages");
    if (!found) found = find_member(record, "conversations");
    if (!found) {
      throw Error("CHAT-03",
                  "the record has neither /messages nor /conversations; name the field of the messages with "
                  "--field");
    }
    value = *found;
  }
  return value;
}

std::vector<ChatMessage> read_chat_messages(const dom::element& list, bool numbers_are_kept) {
  dom::array values;
  if (list.get(values) != simdjson::SUCCESS)
    throw Error("CHAT-03",
                fmt::format("the messages are {}, not a list; name their field with --field", json_kind(list)));
  std::vector<ChatMessage> messages;
  for (const dom::element value : values)
    messages.push_back(ChatMessageReader(messages.size(), numbers_are_kept).read(value));
  if (messages.empty()) throw Error("CHAT-03", "the list of messages is empty; leave it out");
  return messages;
}

ChatRecords::ChatRecords(const std::string& field) {
  if (!field.empty()) field_.emplace(field);
}

std::variant<std::vector<ChatMessage>, LineProblem> ChatRecords::of(std::string_view line) {
  std::vector<ChatMessage> messages;
  try {
    auto problem = parser_.visit(line, [&](const dom::element& record, bool numbers_are_kept) {
      messages = read_chat_messages(find_chat_messages(record, field_), numbers_are_kept);
    });
    if (problem) return *std::move(problem);
  } catch (const Error& error) {
    return problem_of(error);
  }
  return messages;
}

}  // namespace monomorph::data
