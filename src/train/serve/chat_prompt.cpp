#include "train/serve/chat_prompt.hpp"

#include "train/inference/json_spans.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/chat_encoder.hpp>

#include <fmt/format.h>

#include <initializer_list>

namespace monomorph::train {
namespace {

data::jinja::Value value_of(const PromptMessage& message) {
  using data::jinja::Value;
  std::vector<std::pair<Value, Value>> members{{"role",
                                                data::chat_role_names[static_cast<std::size_t>(message.said.role)]},
                                               {"content", std::string_view(message.said.content)}};
  if (!message.name.empty()) members.emplace_back("name", std::string_view(message.name));
  if (!message.calls.is_none()) members.emplace_back("tool_calls", message.calls);
  if (!message.call_id.empty()) members.emplace_back("tool_call_id", std::string_view(message.call_id));
  if (message.reasoning) members.emplace_back("reasoning_content", std::string_view(*message.reasoning));
  return Value::dict(std::move(members));
}

std::string rendered(const data::ModelTemplate& of_model, const std::vector<PromptMessage>& messages,
                     const data::jinja::Value& tools, bool with_answer_begun,
                     const data::TemplateVariables& variables = {}, const data::jinja::RenderLimits& limits = {}) {
  std::vector<data::jinja::Value> list;
  for (const PromptMessage& message : messages) list.push_back(value_of(message));
  return of_model
      .render(data::jinja::Value::list(std::move(list)), tools, with_answer_begun, std::time(nullptr), limits,
              variables)
      .text;
}

/// What a template that is known here can write. None of these, as they were published, writes names or what the model
/// thought.
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

/// What a template writes of a chat in which nobody says more than a word. Nothing if it refuses such a chat, or takes
/// far longer for it than any published one.
std::string text_of_words(const data::TemplateChoice& chat_template, std::initializer_list<data::ChatRole> roles) try {
  constexpr data::jinja::RenderLimits limits{.steps = 1'000'000, .bytes = std::int64_t{1} << 24};
  std::vector<PromptMessage> messages;
  for (const auto role : roles) messages.push_back({.said = {role, "Yes", false}, .name = {}, .call_id = {}});
  const bool with_answer_begun = messages.back().said.role == data::ChatRole::user;
  if (chat_template.of_model() != nullptr)
    return rendered(*chat_template.of_model(), messages, {}, with_answer_begun, {}, limits);
  const data::ChatTemplate& known = *chat_template.known();
  const std::vector<data::ChatMessage> said = said_in(messages, known.name);
  std::string text;
  for (const data::ChatPiece& piece : data::render_chat(known, said)) text += piece.text;
  return text;
} catch (const Error&) {
  return "";
}

/// In a chat of words alone the special tokens are those that begin and end turns and texts: without one, prompts would
/// have other turns than the model knows, and answers might not end.
void check_writes_none_of(std::span<const data::AddedToken> left_out, const data::TemplateChoice& chat_template) {
  using enum data::ChatRole;
  if (left_out.empty()) return;
  // Some templates write another token behind the last answer than behind those before.
  const std::string text =
      text_of_words(chat_template, {user, assistant}) + text_of_words(chat_template, {user, assistant, user});
  for (const data::AddedToken& token : left_out)
    if (token.special && !token.content.empty() && text.find(token.content) != std::string::npos)
      throw UsageError("CHAT-02",
                       fmt::format("the chat template writes the special token {} into every chat, and the model has "
                                   "no row for it, as its id {} is beyond the recipe's vocab_size; take a checkpoint "
                                   "of a recipe with room for it, or name another template with --template",
                                   in_quotes(token.content), token.id));
}

}  // namespace

std::optional<data::jinja::Value> arguments_for_template(std::string_view arguments, std::string_view what) try {
  data::jinja::Value value = data::jinja::value_of_json(arguments, what);
  return value.dict() == nullptr ? std::nullopt : std::optional(std::move(value));
} catch (const UsageError&) {
  const data::jinja::Value with_other_numbers = data::jinja::value_of_json(with_zeros(arguments), what);
  return with_other_numbers.dict() == nullptr ? std::nullopt : std::optional<data::jinja::Value>(arguments);
}

ChatPrompt::ChatPrompt(const data::Tokenizer& tokenizer, std::optional<data::TemplateChoice> chat_template,
                       std::span<const data::AddedToken> left_out)
    : tokenizer_(tokenizer), template_(std::move(chat_template)) {
  if (known()) check_writes_none_of(left_out, *template_);
  if (known() && template_->known() != nullptr)
    data::ChatEncoder(tokenizer_, *template_->known(), data::assistant_alone);
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
  if (of_model() == nullptr) return {.marked = false};
  try {
    return call_form_in(rendered(*of_model(), messages, Value::list({tool}), false), name, argument);
  } catch (const Error&) {
    return {.marked = false};  // it refuses this chat
  }
}

std::vector<std::int32_t> ChatPrompt::ids(const std::vector<PromptMessage>& messages, const data::jinja::Value& tools,
                                          const data::TemplateVariables& variables) const {
  if (of_model() != nullptr) {
    std::vector<std::int32_t> ids = tokenizer_.encode(rendered(*of_model(), messages, tools, true, variables));
    if (ids.empty())
      throw Error(
          "JINJA-02",
          "the chat template writes nothing of these messages; give others, or another template with --template");
    return ids;
  }
  const data::ChatTemplate& known = *template_->known();
  return data::ChatEncoder(tokenizer_, known, data::assistant_alone).prompt(said_in(messages, known.name));
}

}  // namespace monomorph::train
