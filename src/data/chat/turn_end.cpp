#include "data/chat/special_token_at.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/chat/turn_end.hpp>

#include <algorithm>
#include <string_view>
#include <vector>

namespace monomorph::data {
namespace {

using jinja::Value;

/// Of the chat that is tried: nothing that a template would write by itself.
constexpr std::string_view answer = "Zq7 is what was answered";

/// Hundreds of times what published templates take.
constexpr jinja::RenderLimits limits_of_trial{.steps = 1'000'000, .bytes = std::int64_t{1} << 24};

Value message(std::string_view role, std::string_view content) {
  return Value::dict({{"role", role}, {"content", content}});
}

/// The special token that follows the last place of the answer, but for white space.
std::optional<std::int32_t> token_behind_answer(const Tokenizer& tokenizer, std::string_view text) {
  const std::size_t at = text.rfind(answer);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + answer.size());
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  const AddedToken* const token = special_token_at(text, tokenizer.definition().added_tokens);
  return token == nullptr ? std::nullopt : std::optional(token->id);
}

std::optional<std::int32_t> end_in_trial(const Tokenizer& tokenizer, const ModelTemplate& of_model, bool user_goes_on) {
  std::vector<Value> messages{message("user", "What is it?"), message("assistant", answer)};
  if (user_goes_on) messages.push_back(message("user", "And then?"));
  try {
    const jinja::Rendered chat =
        of_model.render(Value::list(std::move(messages)), {}, false, std::time(nullptr), limits_of_trial);
    return token_behind_answer(tokenizer, chat.text);
  } catch (const Error&) {
    return std::nullopt;  // whoever has a chat written by the template is told why
  }
}

}  // namespace

std::optional<std::int32_t> turn_end(const Tokenizer& tokenizer, const TemplateChoice& chat_template) {
  if (chat_template.known() != nullptr) return tokenizer.find(chat_template.known()->end_token);
  const ModelTemplate& of_model = *chat_template.of_model();
  const auto end = end_in_trial(tokenizer, of_model, false);
  return end ? end : end_in_trial(tokenizer, of_model, true);
}

}  // namespace monomorph::data
