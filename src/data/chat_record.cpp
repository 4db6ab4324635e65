#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat_record.hpp>

#include <fmt/format.h>
#include <simdjson.h>

namespace monomorph::data {
namespace {

namespace dom = simdjson::dom;

std::string kind_of(dom::element value) {
  switch (value.type()) {
    case dom::element_type::ARRAY:
      return "a list";
    case dom::element_type::OBJECT:
      return "an object";
    case dom::element_type::STRING:
      return "text";
    case dom::element_type::BOOL:
      return "true or false";
    case dom::element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

/// Reads one message; errors name it.
class MessageReader {
 public:
  MessageReader(const std::string& place, std::size_t index)
      : place_(fmt::format("{}, message {}", place, index + 1)) {}

  ChatMessage read(dom::element value) const {
    dom::object message;
    if (value.get(message) != simdjson::SUCCESS) fail("it is {}, not an object with role and content", kind_of(value));
    const bool as_sharegpt =
        message["role"].error() != simdjson::SUCCESS && message["from"].error() == simdjson::SUCCESS;
    refuse_tool_calls(message);
    return {.role = role(message, as_sharegpt ? "from" : "role"),
            .content = content(message, as_sharegpt ? "value" : "content"),
            .counted = is_counted(message)};
  }

 private:
  template <class... Arguments>
  [[noreturn]] void fail(fmt::format_string<Arguments...> text, Arguments&&... arguments) const {
    throw Error(fmt::format("[CHAT-04] {}: {}; mend the record", place_,
                            fmt::format(text, std::forward<Arguments>(arguments)...)));
  }

  dom::element member(dom::object message, const char* name) const {
    dom::element value;
    if (message[name].get(value) != simdjson::SUCCESS) fail("it has no \"{}\"", name);
    return value;
  }

  ChatRole role(dom::object message, const char* name) const {
    const dom::element value = member(message, name);
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) fail("its \"{}\" is {}, not text", name, kind_of(value));
    const auto role = find_chat_role(text);
    if (!role) {
      fail("there is no role {}; roles are system, user (human), assistant (gpt, model) and tool", in_quotes(text));
    }
    return *role;
  }

  std::string content(dom::object message, const char* name) const {
    const dom::element value = member(message, name);
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) return std::string(text);
    dom::array parts;
    if (value.get(parts) != simdjson::SUCCESS) fail("its \"{}\" is {}, not text", name, kind_of(value));
    std::string joined;
    for (const dom::element part : parts) joined += part_text(part, name);
    return joined;
  }

  std::string_view part_text(dom::element part, const char* name) const {
    std::string_view text, type;
    if (part.get(text) == simdjson::SUCCESS) return text;
    if (part["type"].get(type) != simdjson::SUCCESS) fail("a part of its \"{}\" is neither text nor has a type", name);
    if (type != "text") fail("a part of its \"{}\" is of type {}, and only text is read", name, in_quotes(type));
    if (part["text"].get(text) != simdjson::SUCCESS) fail("a part of its \"{}\" has no \"text\"", name);
    return text;
  }

  /// Dropping what the assistant did would teach it to say nothing.
  void refuse_tool_calls(dom::object message) const {
    for (const char* name : {"tool_calls", "function_call"}) {
      dom::element value;
      if (message[name].get(value) != simdjson::SUCCESS || value.is_null()) continue;
      dom::array calls;
      if (value.get(calls) == simdjson::SUCCESS && calls.size() == 0) continue;
      fail("it has \"{}\", which no template here can write", name);
    }
  }

  /// OpenAI's mark on a message: weight 0 leaves it out of the loss.
  bool is_counted(dom::object message) const {
    dom::element value;
    if (message["weight"].get(value) != simdjson::SUCCESS || value.is_null()) return true;
    double weight = -1;
    if (value.get(weight) != simdjson::SUCCESS || (weight != 0 && weight != 1))
      fail("its \"weight\" is neither 0 nor 1");
    return weight == 1;
  }

  std::string place_;
};

}  // namespace

struct ChatRecords::Parser {
  dom::parser json;

  /// The messages of a record, which may be a list of them itself.
  static dom::array list(dom::element record, const std::string& field, const std::string& place) {
    dom::element found = record;
    if (!field.empty()) {
      if (record.at_pointer(field).get(found) != simdjson::SUCCESS) {
        throw Error(fmt::format("[CHAT-03] {}: the record has no field {}; name the field of the messages with --field",
                                place, in_quotes(field)));
      }
    } else if (!record.is_array() && record["messages"].get(found) != simdjson::SUCCESS &&
               record["conversations"].get(found) != simdjson::SUCCESS) {
      throw Error(
          fmt::format("[CHAT-03] {}: the record has neither /messages nor /conversations; name the field of "
                      "the messages with --field",
                      place));
    }
    dom::array messages;
    if (found.get(messages) != simdjson::SUCCESS) {
      throw Error(fmt::format("[CHAT-03] {}: the messages are {}, not a list; name their field with --field", place,
                              kind_of(found)));
    }
    return messages;
  }
};

ChatRecords::ChatRecords(std::string field) : field_(std::move(field)), parser_(std::make_unique<Parser>()) {
  if (!field_.empty() && field_.front() != '/') {
    throw UsageError(fmt::format("[DATA-10] the field {} is no JSON Pointer; write it like /messages or /meta/messages",
                                 in_quotes(field_)));
  }
}

ChatRecords::ChatRecords(ChatRecords&&) noexcept = default;
ChatRecords::~ChatRecords() = default;

std::vector<ChatMessage> ChatRecords::of(const Line& line, const std::string& path) {
  const bool blank = line.text.find_first_not_of(" \t\r") == std::string_view::npos;
  dom::element record;
  const simdjson::error_code failure = parser_->json.parse(line.text.data(), line.text.size()).get(record);
  if (failure != simdjson::SUCCESS) {
    throw Error(fmt::format("[DATA-02] {}, line {} (byte {}): {}; every line must be one JSON value", in_quotes(path),
                            line.number, line.offset, blank ? "the line is blank" : simdjson::error_message(failure)));
  }
  const std::string place = fmt::format("{}, line {}", in_quotes(path), line.number);
  std::vector<ChatMessage> messages;
  for (const dom::element message : parser_->list(record, field_, place)) {
    messages.push_back(MessageReader(place, messages.size()).read(message));
  }
  if (messages.empty()) throw Error(fmt::format("[CHAT-03] {}: the list of messages is empty; leave it out", place));
  return messages;
}

}  // namespace monomorph::data
