#include "core/is_there.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/template_choice.hpp>

#include <fmt/format.h>

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

TemplateChoice::TemplateChoice(ModelTemplate of_model) {
  if (const std::string* const source = of_model.only_source()) known_ = find_chat_template_in_jinja(*source);
  if (known_ == nullptr) of_model_ = std::make_shared<const ModelTemplate>(std::move(of_model));
}

TemplateChoice TemplateChoice::named(const std::string& name_or_path) {
  if (const ChatTemplate* const known = find_chat_template(name_or_path)) return *known;
  if (is_there(name_or_path)) return ModelTemplate::of_file(name_or_path);
  throw UsageError("CHAT-01", fmt::format("there is no chat template {}, neither by this name nor as a file or folder; "
                                          "name one of {}, a file of one in Jinja, or a model's folder",
                                          in_quotes(name_or_path), chat_template_names()));
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
