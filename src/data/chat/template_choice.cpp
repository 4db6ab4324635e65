#include "core/is_there.hpp"

#include <monomorph/data/chat/template_choice.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

bool has_tokens_of(const Tokenizer& tokenizer, const ChatTemplate& chat_template) {
  return std::ranges::all_of(chat_template.special_tokens, [&](std::string_view token) {
    const auto id = tokenizer.find(token);
    return token.empty() || (id && tokenizer.is_special(*id));
  });
}

}  // namespace

TemplateChoice TemplateChoice::named(const std::string& name_or_path) {
  const auto known = std::ranges::find(chat_templates(), name_or_path, &ChatTemplate::name);
  if (known == chat_templates().end() && is_there(name_or_path)) return ModelTemplate::of_file(name_or_path);
  return find_chat_template(name_or_path);
}

std::optional<TemplateChoice> TemplateChoice::usual(const Tokenizer& tokenizer, const std::string& folder) {
  if (auto of_model = ModelTemplate::of_folder(folder)) return *std::move(of_model);
  const auto known = std::ranges::find_if(chat_templates(), [&](const ChatTemplate& candidate) {
    return has_tokens_of(tokenizer, candidate);
  });
  if (known == chat_templates().end()) return std::nullopt;
  return *known;
}

std::uint64_t TemplateChoice::fingerprint() const {
  return known_ != nullptr ? data::fingerprint(*known_) : of_model_->fingerprint();
}

std::int32_t TemplateChoice::padding(const Tokenizer& tokenizer) const {
  if (known_ != nullptr) return tokenizer.find(known_->end_token).value();
  for (const char* const name : {"pad_token", "eos_token"}) {
    const std::string* const token = of_model_->token(name);
    if (token == nullptr) continue;
    if (const auto id = tokenizer.find(*token)) return *id;
  }
  return 0;
}

}  // namespace monomorph::data
