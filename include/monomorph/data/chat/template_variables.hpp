#pragma once
#include <monomorph/data/jinja/value.hpp>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::data {

/// What a model's own template is given besides the chat, by name, such as `enable_thinking`: transformers' keyword
/// arguments of `apply_chat_template`.
using TemplateVariables = std::vector<std::pair<std::string, jinja::Value>>;

/// The members of a JSON object.   @param what names the text, for messages
/// @throws UsageError [CHAT-20] it is no JSON object, has too many members, or one that the chat itself gives
TemplateVariables template_variables_of(std::string_view json, std::string_view what);
/// The same of an object that was read already.
TemplateVariables template_variables_in(const jinja::Value& object, std::string_view what);

/// Sets those of `more`, in the place of those with the same names.
void set_variables(TemplateVariables& variables, const TemplateVariables& more);

}  // namespace monomorph::data
