#include "train/serve/chat_prompt.hpp"

#include <monomorph/data/chat/chat_encoder.hpp>

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

std::string rendered(const data::ModelTemplate& of_model, const std::vector<data::ChatMessage>& messages) {
  using data::jinja::Value;
  std::vector<Value> list;
  for (const data::ChatMessage& message : messages)
    list.push_back(Value::dict({{"role", data::chat_role_names[static_cast<std::size_t>(message.role)]},
                                {"content", std::string_view(message.content)}}));
  return of_model.render(Value::list(std::move(list)), {}, true).text;
}

}  // namespace

ChatPrompt::ChatPrompt(const data::Tokenizer& tokenizer, const std::string& name)
    : tokenizer_(tokenizer), template_(template_for(tokenizer, name)) {
  if (known()) data::ChatEncoder(tokenizer_, *template_, only_assistant());
}

/// By a template that is known here, a turn of the model's with a letter is appended, and the prompt ends before the
/// token that has the letter.
std::vector<std::int32_t> ChatPrompt::ids(std::vector<data::ChatMessage> messages) const {
  if (of_model_) return tokenizer_.encode(rendered(*of_model_, messages));
  for (data::ChatMessage& message : messages) message.counted = false;
  messages.push_back({data::ChatRole::assistant, "x"});
  data::EncodedChat chat = data::ChatEncoder(tokenizer_, *template_, only_assistant()).encode(messages);
  const auto own = std::ranges::find(chat.counted, true);
  chat.ids.resize(static_cast<std::size_t>(own - chat.counted.begin()));
  return std::move(chat.ids);
}

}  // namespace monomorph::train
