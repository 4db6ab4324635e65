#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/chat/template_variables.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

constexpr std::string_view of_the_chat[] = {"messages", "tools", "documents", "add_generation_prompt"};
/// A template looks each of its names up among them, one by one.
constexpr std::size_t most_variables = 64;

[[noreturn]] void refuse(std::string_view what, const std::string& why) {
  throw UsageError("CHAT-20", fmt::format("{} {}; give an object of variables of the chat template, such as "
                                          "{{\"enable_thinking\": false}}",
                                          what, why));
}

}  // namespace

TemplateVariables template_variables_of(std::string_view json, std::string_view what) {
  if (parsed_json(json).is_discarded()) refuse(what, "is no JSON object: " + json_mistake(json));
  return template_variables_in(jinja::value_of_json(json, what), what);
}

TemplateVariables template_variables_in(const jinja::Value& object, std::string_view what) {
  const jinja::Dict* const members = object.dict();
  if (members == nullptr) refuse(what, "is no JSON object");
  if (members->items.size() > most_variables) refuse(what, fmt::format("has more than {} members", most_variables));
  TemplateVariables variables;
  for (const auto& [key, value] : members->items) {
    const std::string& name = *key.text();
    if (std::ranges::find(of_the_chat, name) != std::end(of_the_chat))
      refuse(what, fmt::format("has \"{}\", which the chat itself gives", name));
    variables.emplace_back(name, value);
  }
  return variables;
}

void set_variables(TemplateVariables& variables, const TemplateVariables& more) {
  for (const auto& [name, value] : more) {
    const auto there = std::ranges::find(variables, name, &TemplateVariables::value_type::first);
    if (there == variables.end())
      variables.emplace_back(name, value);
    else
      there->second = value;
  }
}

}  // namespace monomorph::data
