#pragma once
#include <monomorph/data/chat/template_variables.hpp>
#include <monomorph/data/jinja/template.hpp>

#include <cstdint>
#include <ctime>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::data {

/// How a model's makers write its chats: templates in Jinja, with the special tokens that these name. A model may have
/// several by name, of which `default` is that of most chats, and `tool_use` that of those with tools.
class ModelTemplate {
 public:
  /// That of a file: `tokenizer_config.json` or `chat_template.json`, which are JSON, or one in Jinja, beside which
  /// tokenizer_config.json may name the special tokens, or beside the folder `additional_chat_templates` in which it
  /// lies. Of a folder, that of of_folder.
  /// @throws as of_folder; UsageError [CHAT-17] the file, or the folder, has none
  static ModelTemplate of_file(const std::string& path);
  /// That of a model's folder: of `chat_template.jinja` and, for what these are named by, the files in
  /// `additional_chat_templates`; else of `chat_template.json`; else of `tokenizer_config.json`, which names the
  /// special tokens, too. Nothing if it has none.
  /// @throws UsageError [CHAT-16] one of the files is broken; [JINJA-01]; [FILE-NN]; as path_in
  static std::optional<ModelTemplate> of_folder(const std::string& folder);

  /// The template that writes a chat: for one with tools the model's own for these, if it has one.
  const jinja::Template& chosen(bool has_tools) const;
  /// Whether it writes what tools there are, in a chat of one question; also if it refuses such a chat.
  bool takes_tools() const;
  /// The text of a chat, as transformers' `apply_chat_template` has it.
  /// @param messages a list of dicts with at least `role` and `content`   @param tools a list of JSON schemas, or none
  /// @param with_answer_begun what comes before the assistant's next turn is written, too   @param now for templates
  /// that write the date   @param more variables, besides those that were set   @throws as Template::render
  jinja::Rendered render(const jinja::Value& messages, const jinja::Value& tools, bool with_answer_begun,
                         std::time_t now = std::time(nullptr), const jinja::RenderLimits& limits = {},
                         const TemplateVariables& more = {}) const;
  /// Gives the template these in every chat, too.
  void set(const TemplateVariables& variables) { set_variables(variables_, variables); }
  /// The source of the default template, if there is no other one; else null.
  const std::string* only_source() const;
  /// What the model's files call by a name such as `eos_token`; nothing if they do not.
  const std::string* token(std::string_view name) const;
  /// Changes whenever what the templates write may.
  std::uint64_t fingerprint() const;

 private:
  std::map<std::string, jinja::Template> templates_;
  TemplateVariables tokens_;     ///< by what templates call them: bos_token, …
  TemplateVariables variables_;  ///< that were set
  friend class ModelTemplateReader;
};

/// By name the templates that ModelTemplate::of_folder would read, as they stand; none if the folder has none.
/// @throws UsageError [CHAT-16] one of the files is broken; [FILE-NN]
std::map<std::string, std::string> chat_template_sources(const std::string& folder);

}  // namespace monomorph::data
