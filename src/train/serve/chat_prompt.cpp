#include "train/serve/chat_prompt.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/chat/chat_encoder.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::train {
namespace {

bool has_tokens_of(const data::Tokenizer& tokenizer, const data::ChatTemplate& chat_template) {
  bool any = false;
  for (const std::string_view token : chat_template.special_tokens) {
    if (token.empty()) continue;
    if (!tokenizer.find(token)) return false;
    any = true;
  }
  return any;
}

const data::ChatTemplate* template_for(const data::Tokenizer& tokenizer, const std::string& name) {
  if (!name.empty()) return &data::find_chat_template(name);
  const auto templates = data::chat_templates();
  const auto found =
      std::ranges::find_if(templates, [&](const auto& candidate) { return has_tokens_of(tokenizer, candidate); });
  return found == templates.end() ? nullptr : &*found;
}

data::ChatRoles only_assistant() {
  data::ChatRoles roles;
  roles.set(static_cast<std::size_t>(data::ChatRole::assistant));
  return roles;
}

data::jinja::Value value_of(const PromptMessage& message) {
  using data::jinja::Value;
  std::vector<std::pair<Value, Value>> members{{"role",
                                                data::chat_role_names[static_cast<std::size_t>(message.said.role)]},
                                               {"content", std::string_view(message.said.content)}};
  if (!message.name.empty()) members.emplace_back("name", std::string_view(message.name));
  if (!message.calls.is_none()) members.emplace_back("tool_calls", message.calls);
  if (!message.call_id.empty()) members.emplace_back("tool_call_id", std::string_view(message.call_id));
  return Value::dict(std::move(members));
}

std::string rendered(const data::ModelTemplate& of_model, const std::vector<PromptMessage>& messages,
                     const data::jinja::Value& tools, bool with_answer_begun) {
  std::vector<data::jinja::Value> list;
  for (const PromptMessage& message : messages) list.push_back(value_of(message));
  return of_model.render(data::jinja::Value::list(std::move(list)), tools, with_answer_begun).text;
}

/// What a template that is known here can write.
std::vector<data::ChatMessage> said_in(const std::vector<PromptMessage>& messages, std::string_view name) {
  std::vector<data::ChatMessage> all;
  for (const PromptMessage& message : messages) {
    if (!message.calls.is_none())
      throw Error("CHAT-04", fmt::format("message {}: it has calls of tools, which the template {} has no place for",
                                         all.size() + 1, name));
    all.push_back({message.said.role, message.said.content, false});
  }
  return all;
}

}  // namespace

ChatPrompt::ChatPrompt(const data::Tokenizer& tokenizer, const std::string& name)
    : tokenizer_(tokenizer), template_(template_for(tokenizer, name)) {
  if (known()) data::ChatEncoder(tokenizer_, *template_, only_assistant());
}

CallForm ChatPrompt::call_form() const {
  using data::jinja::Value;
  constexpr const char *name = "a_tool_that_is_called", *argument = "an_argument_of_it";
  const Value arguments = Value::dict({{argument, "of use"}}),
              properties = Value::dict({{argument, Value::dict({{"type", "string"}})}}),
              schema = Value::dict({{"type", "object"}, {"properties", properties}, {"required", Value::list({})}}),
              tool = Value::dict(
                  {{"type", "function"},
                   {"function", Value::dict({{"name", name}, {"description", "Of use"}, {"parameters", schema}})}}),
              call = Value::dict({{"id", "abcdefghi"},
                                  {"type", "function"},
                                  {"function", Value::dict({{"name", name}, {"arguments", arguments}})}});
  const std::vector<PromptMessage> messages{
      {.said = {data::ChatRole::user, "Is it there?", false}, .name = {}, .call_id = {}},
      {.said = {data::ChatRole::assistant, "", false}, .name = {}, .call_id = {}, .calls = Value::list({call})}};
  if (!of_model_) return {.marked = false};
  try {
    return call_form_in(rendered(*of_model_, messages, Value::list({tool}), false), name, argument);
  } catch (const Error&) {
    return {.marked = false};  // it refuses this chat
  }
}

/// By a template that is known here, a turn of the model's with a letter is appended, and the prompt ends before the
/// token that has the letter.
std::vector<std::int32_t> ChatPrompt::ids(const std::vector<PromptMessage>& messages,
                                          const data::jinja::Value& tools) const {
  if (of_model_) return tokenizer_.encode(rendered(*of_model_, messages, tools, true));
  std::vector<data::ChatMessage> said = said_in(messages, template_->name);
  said.push_back({data::ChatRole::assistant, "x"});
  data::EncodedChat chat = data::ChatEncoder(tokenizer_, *template_, only_assistant()).encode(said);
  const auto own = std::ranges::find(chat.counted, true);
  chat.ids.resize(static_cast<std::size_t>(own - chat.counted.begin()));
  return std::move(chat.ids);
}

}  // namespace monomorph::train
