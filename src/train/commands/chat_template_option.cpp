#include "train/commands/chat_template_option.hpp"

#include "core/as_usage_error.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/standard_streams.hpp>

#include <fmt/format.h>

namespace monomorph::train {

/// `--chat-template` is what the option of `serve` was called at first.
void ChatTemplateOption::add_to(CLI::App& app) {
  app.add_option(
      "--template,--chat-template", name,
      fmt::format("how chats are written: {}, a file of a template in Jinja, or a model's folder; the model's "
                  "own if not given",
                  data::chat_template_names()));
  app.add_option("--template-kwargs,--chat-template-kwargs", variables,
                 "variables of a model's own template, a JSON object such as {\"enable_thinking\": false}");
}

std::optional<data::TemplateChoice> ChatTemplateOption::choice(const data::Tokenizer& tokenizer,
                                                               const std::string& folder) const {
  const auto given =
      variables.empty() ? data::TemplateVariables{} : data::template_variables_of(variables, "--template-kwargs");
  if (!name.empty()) return as_usage_error("--template", [&] { return data::TemplateChoice::named(name, given); });
  auto usual =
      as_usage_error("the tokeniser's folder", [&] { return data::TemplateChoice::usual(tokenizer, folder, given); });
  if (usual && usual->known() != nullptr && data::chat_template_sources(folder).empty())
    write_error_line(
        fmt::format("no chat template lies beside the tokeniser: chats are written as {} has them, whose "
                    "special tokens it has; --template names another",
                    usual->known()->name));
  if (!usual && !given.empty())
    throw UsageError("CHAT-21",
                     "--template-kwargs are of a model's own template, and this model has none; leave them out, or "
                     "name one with --template");
  return usual;
}

}  // namespace monomorph::train
