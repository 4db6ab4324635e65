#include "train/serve/request_messages.hpp"

#include "train/serve/api_error.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph::train {
namespace {

using data::jinja::Value;
using nlohmann::json;

constexpr std::int64_t most_calls = 128;  // of one message

/// A string, or a list of parts that are texts.
std::string content_of(RequestFields& message) {
  const json* const content = message.find("content");
  const std::string field = message.path_of("content");
  if (content == nullptr) throw ApiError(400, field + " is missing", field);
  if (content->is_string()) return content->get<std::string>();
  if (!content->is_array()) throw ApiError(400, field + " must be a string or a list of parts", field);
  std::string all;
  for (std::size_t i = 0; i < content->size(); ++i) {
    RequestFields part((*content)[i], fmt::format("{}.{}", field, i));
    if (part.text("type") != "text")
      throw ApiError(400, part.path_of("type") + " must be \"text\"", part.path_of("type"));
    all += part.text("text").value_or("");
    part.finish();
  }
  return all;
}

ApiError wrong(const std::string& field, std::string_view what) {
  return {400, fmt::format("{} {}", field, what), field};
}

std::string required_text(RequestFields& fields, const char* name) {
  std::string text = fields.text(name).value_or("");
  if (text.empty()) throw wrong(fields.path_of(name), "must be a string that is not empty");
  return text;
}

RequestFields object_in(RequestFields& fields, const char* name) {
  const json* const object = fields.find(name);
  return {object == nullptr ? json() : *object, fields.path_of(name)};
}

/// A call of a tool that the model made earlier. Clients have its arguments as a text, templates as a dict.
Value call_of(const json& value, const std::string& path) {
  RequestFields call(value, path);
  const std::string id = call.text("id").value_or("");
  call.integer("index", 0, INT32_MAX);  // of a stream's pieces
  call.refuse_unless("type", {"function"});
  RequestFields function = object_in(call, "function");
  const std::string name = required_text(function, "name"), text = function.text("arguments").value_or("");
  call.finish();
  function.finish();
  const std::string field = function.path_of("arguments");
  std::optional<Value> arguments;
  try {
    arguments = arguments_for_template(text.empty() ? "{}" : text, field);  // some clients write nothing for none
  } catch (const Error& error) {
    throw ApiError(400, error.what(), field);
  }
  if (!arguments) throw wrong(field, "must be the text of a JSON object");
  std::vector<std::pair<Value, Value>> said;
  if (!id.empty()) said.emplace_back("id", std::string_view(id));
  said.emplace_back("type", "function");
  said.emplace_back("function", Value::dict({{"name", std::string_view(name)}, {"arguments", *arguments}}));
  return Value::dict(std::move(said));
}

Value calls_of(RequestFields& message, data::ChatRole role) {
  const json* const list = message.find("tool_calls");
  if (list == nullptr || *list == json::array()) return {};
  const std::string field = message.path_of("tool_calls");
  if (!list->is_array() || std::ssize(*list) > most_calls)
    throw wrong(field, fmt::format("must be a list of up to {} calls", most_calls));
  if (role != data::ChatRole::assistant) throw wrong(field, "is for messages of the assistant");
  std::vector<Value> calls;
  for (const json& call : *list) calls.push_back(call_of(call, fmt::format("{}.{}", field, calls.size())));
  return Value::list(std::move(calls));
}

PromptMessage message_of(const json& value, std::size_t index) {
  RequestFields message(value, fmt::format("messages.{}", index));
  const std::string said_by = message.text("role").value_or("");
  const auto role = said_by == "developer" ? data::ChatRole::system : data::find_chat_role(said_by);
  const std::string field = message.path_of("role");
  if (!role) throw ApiError(400, field + " must be system, developer, user, assistant or tool", field);
  PromptMessage result{.said = {*role, ""},
                       .name = message.text("name").value_or(""),
                       .call_id = message.text("tool_call_id").value_or(""),
                       .calls = calls_of(message, *role),
                       .reasoning = message.text("reasoning_content")};
  // An answer that consisted of calls alone may have no content.
  if (result.calls.is_none() || message.find("content") != nullptr) result.said.content = content_of(message);
  if (role != data::ChatRole::tool && !result.call_id.empty())
    throw wrong(message.path_of("tool_call_id"), "is for messages of tools");
  if (role != data::ChatRole::assistant && result.reasoning)
    throw wrong(message.path_of("reasoning_content"), "is for messages of the assistant");
  for (const char* const unsupported : {"function_call", "refusal", "audio", "annotations"})
    message.refuse_unless(unsupported, {json::array()});
  message.finish();
  return result;
}

}  // namespace

std::vector<PromptMessage> read_messages(RequestFields& fields) {
  const json* const list = fields.find("messages");
  if (list == nullptr || !list->is_array() || list->empty())
    throw ApiError(400, "messages must be a list of at least one message", "messages");
  std::vector<PromptMessage> messages;
  for (const json& value : *list) messages.push_back(message_of(value, messages.size()));
  return messages;
}

}  // namespace monomorph::train
