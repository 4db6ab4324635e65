#include "core/json_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/chat/template_variables.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

constexpr std::string_view of_the_chat[] = {"messages", "tools", "documents", "add_generation_prompt"};

[[noreturn]] void refuse(std::string_view what, const std::string& why) {
  throw UsageError("CHAT-20", fmt::format("{} {}; give an object of variables of the chat template, such as "
                                          "{{\"enable_thinking\": false}}",
                                          what, why));
}

}  // namespace

TemplateVariables template_variables_of(std::string_view json, std::string_view what) {
  const nlohmann::ordered_json object = parsed_ordered_json(json);
  if (object.is_discarded()) refuse(what, "is no JSON object: " + json_mistake(json));
  if (!object.is_object()) refuse(what, "is no JSON object");
  TemplateVariables variables;
  for (const auto& [name, value] : object.items()) {
    if (std::ranges::find(of_the_chat, name) != std::end(of_the_chat))
      refuse(what, fmt::format("has \"{}\", which the chat itself gives", name));
    variables.emplace_back(name, jinja::value_of_json(value.dump(), what));
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
