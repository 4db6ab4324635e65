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

/// With variables, which a template that is known here has none of.
TemplateChoice with(TemplateChoice choice, const TemplateVariables& variables) {
  if (choice.known() != nullptr && !variables.empty())
    throw UsageError("CHAT-21",
                     fmt::format("the chat template {} has no variables, and {} is to be one; leave it out, or name a "
                                 "model's own template with --template",
                                 choice.known()->name, in_quotes(variables.front().first)));
  return choice;
}
TemplateChoice with(ModelTemplate of_model, const TemplateVariables& variables) {
  of_model.set(variables);
  return with(TemplateChoice(std::move(of_model)), variables);
}

}  // namespace

TemplateChoice::TemplateChoice(ModelTemplate of_model) {
  if (const std::string* const source = of_model.only_source()) known_ = find_chat_template_in_jinja(*source);
  if (known_ == nullptr) of_model_ = std::make_shared<const ModelTemplate>(std::move(of_model));
}

TemplateChoice TemplateChoice::named(const std::string& name_or_path, const TemplateVariables& variables) {
  if (const ChatTemplate* const known = find_chat_template(name_or_path)) return with(*known, variables);
  if (is_there(name_or_path)) return of_file(name_or_path, variables);
  throw UsageError("CHAT-01", fmt::format("there is no chat template {}, neither by this name nor as a file or folder; "
                                          "name one of {}, a file of one in Jinja, or a model's folder",
                                          in_quotes(name_or_path), chat_template_names()));
}

TemplateChoice TemplateChoice::of_file(const std::string& path, const TemplateVariables& variables) {
  return with(ModelTemplate::of_file(path), variables);
}

std::optional<TemplateChoice> TemplateChoice::usual(const Tokenizer& tokenizer, const std::string& folder,
                                                    const TemplateVariables& variables) {
  if (auto of_model = ModelTemplate::of_folder(folder)) return with(*std::move(of_model), variables);
  const auto known = std::ranges::find_if(chat_templates(), [&](const ChatTemplate& candidate) {
    return has_tokens_of(tokenizer, candidate);
  });
  if (known == chat_templates().end()) return std::nullopt;
  return with(*known, variables);
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
