#include "data/chat/templated_chat.hpp"

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
using jinja::Value;

Value value_of(const dom::element& element, std::string_view what) {
  return jinja::value_of_json(simdjson::minify(element), what);
}

const Value* find(const jinja::Dict& dict, std::string_view key) { return dict.find(key); }

/// Reads one message; errors name it.
class TemplatedMessageReader {
 public:
  explicit TemplatedMessageReader(std::size_t index) : number_(index + 1) {}

  TemplatedMessage read(const Value& message) const {
    const jinja::Dict* const members = message.dict();
    if (members == nullptr) fail("it is no object with a role");
    const bool as_sharegpt = !find(*members, "role") && find(*members, "from");
    Value said = as_sharegpt ? renamed(*members) : message;
    const std::string* const role = member(*said.dict(), "role").text();
    if (role == nullptr) fail("its \"role\" is not text");
    const bool counted = *role == "assistant" && is_counted(*members);
    return {std::move(said), counted};
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw Error("CHAT-04", fmt::format("message {}: {}; mend the record", number_, why));
  }

  const Value& member(const jinja::Dict& message, std::string_view name) const {
    const Value* const value = find(message, name);
    if (value == nullptr) fail(fmt::format("it has no \"{}\"", name));
    return *value;
  }

  /// A message in the style of ShareGPT, as templates want it.
  Value renamed(const jinja::Dict& message) const {
    const std::string* const from = member(message, "from").text();
    const auto role = from == nullptr ? std::nullopt : find_chat_role(*from);
    if (!role) fail("its \"from\" is no role; roles are system, user (human), assistant (gpt, model) and tool");
    return Value::dict(
        {{"role", chat_role_names[static_cast<std::size_t>(*role)]}, {"content", member(message, "value")}});
  }

  /// OpenAI's mark on a message: weight 0 leaves it out of the loss.
  bool is_counted(const jinja::Dict& message) const {
    const Value* const weight = find(message, "weight");
    if (weight == nullptr || weight->is_none()) return true;
    const auto number = weight->is<bool>() ? std::nullopt : weight->number();
    if (number != 0 && number != 1) fail("its \"weight\" is neither 0 nor 1");
    return number == 1;
  }

  std::size_t number_;
};

}  // namespace

Value read_tools(const dom::element& record) {
  const auto tools = find_member(record, "tools");
  if (!tools || tools->is_null()) return {};
  if (!tools->is_array())
    throw Error("CHAT-04", fmt::format("the \"tools\" beside the messages are {}, not a list; mend the record",
                                       json_kind(*tools)));
  return tools->get_array().value_unsafe().size() == 0 ? Value() : value_of(*tools, "the list of tools");
}

std::vector<TemplatedMessage> read_templated_messages(const dom::element& list, bool numbers_are_kept) {
  if (!numbers_are_kept)
    throw Error("CHAT-04", "the record has a number beyond 64 bits, which no template can be given; mend it");
  if (!list.is_array())
    throw Error("CHAT-03",
                fmt::format("the messages are {}, not a list; name their field with --field", json_kind(list)));
  const Value values = value_of(list, "the list of messages");
  std::vector<TemplatedMessage> messages;
  for (const Value& message : values.sequence()->items)
    messages.push_back(TemplatedMessageReader(messages.size()).read(message));
  if (messages.empty()) throw Error("CHAT-03", "the list of messages is empty; leave it out");
  return messages;
}

TemplatedChatRecords::TemplatedChatRecords(const std::string& field) {
  if (!field.empty()) field_.emplace(field);
}

std::optional<LineProblem> TemplatedChatRecords::read(std::string_view line, TemplatedChat& chat) {
  chat = {};
  try {
    return parser_.visit(line, [&](const dom::element& record, bool numbers_are_kept) {
      chat.messages = read_templated_messages(find_chat_messages(record, field_), numbers_are_kept);
      chat.tools = read_tools(record);
    });
  } catch (const Error& error) {
    return problem_of(error);
  }
}

}  // namespace monomorph::data
