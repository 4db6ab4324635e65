#include "core/folder_files.hpp"
#include "core/is_there.hpp"
#include "core/json_text.hpp"
#include "data/jinja/budget.hpp"
#include "data/jinja/value_text.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/hash.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/data/chat/model_template.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace monomorph::data {

namespace {

using nlohmann::json;

/// Where templates lie besides chat_template.jinja, each in a file with its name.
constexpr std::string_view folder_of_others = "additional_chat_templates", ending = ".jinja";

constexpr const char* token_names[] = {"bos_token", "eos_token", "unk_token", "sep_token",
                                       "pad_token", "cls_token", "mask_token"};

[[noreturn]] void refuse_file(const std::string& path, std::string_view what) {
  throw UsageError("CHAT-16",
                   fmt::format("{} {}; mend the file, or name another with --template", in_quotes(path), what));
}

json object_of(const std::string& path) {
  const std::string text = read_text_file(path);
  json object = parsed_json(text);
  if (object.is_discarded()) refuse_file(path, "is no JSON object: " + json_mistake(text));
  if (!object.is_object()) refuse_file(path, "is no JSON object");
  return object;
}

}  // namespace

/// Reads the files that say how a model's chats are written.
class ModelTemplateReader {
 public:
  void read_jinja(const std::string& path) { add("default", read_text_file(path), path); }

  /// The templates of a JSON file: one, or several by name.
  void read_json(const std::string& path) {
    const json object = object_of(path), templates = object.value("chat_template", json());
    if (templates.is_null()) return;
    if (templates.is_string()) return add("default", templates.get<std::string>(), path);
    if (!templates.is_array()) refuse_file(path, "has a \"chat_template\" that is neither a text nor a list");
    for (const json& one : templates) {
      if (!one.is_object() || !one.value("name", json()).is_string() || !one.value("template", json()).is_string())
        refuse_file(path, "has a \"chat_template\" that is a list of something else than names with templates");
      add(one["name"].get<std::string>(), one["template"].get<std::string>(), path);
    }
    if (!sources_.contains("default")) refuse_file(path, "names no chat template \"default\"");
  }

  /// A token is a text, or an object that has it as its content.
  void read_tokens(const std::string& path) {
    if (!is_file(path)) return;
    const json object = object_of(path);
    for (const char* const name : token_names) {
      const json named = object.value(name, json());
      const json& token = named.is_object() && named.contains("content") ? named["content"] : named;
      if (token.is_string())
        result_.tokens_.emplace_back(name, token.get<std::string>());
      else if (!token.is_null())
        refuse_file(path, fmt::format("has as {} what is no text", name));
    }
  }

  /// Those of a folder; none if it has none.
  void read_folder(const std::string& folder) {
    const std::string in_json = path_in(folder, "chat_template.json"),
                      config = path_in(folder, "tokenizer_config.json");
    read_jinja_files(folder);
    if (!has_some() && is_file(in_json)) read_json(in_json);
    if (!has_some() && is_file(config)) read_json(config);
    if (has_some()) read_tokens(config);
  }

  bool has_some() const { return !sources_.empty(); }
  ModelTemplate take() && {
    for (auto& [name, of_file] : sources_)
      result_.templates_.insert_or_assign(name, jinja::Template(std::move(of_file.source), of_file.path));
    return std::move(result_);
  }
  std::map<std::string, std::string> take_sources() && {
    std::map<std::string, std::string> sources;
    for (auto& [name, of_file] : sources_) sources.emplace(name, std::move(of_file.source));
    return sources;
  }

 private:
  struct Source {
    std::string source, path;
  };
  /// As transformers writes them: the default, and each other one in a file of its own.
  void read_jinja_files(const std::string& folder) {
    if (const std::string path = path_in(folder, "chat_template.jinja"); is_file(path)) read_jinja(path);
    for (const std::string& file : files_in(folder, folder_of_others, ending)) {
      const std::string path = path_in(folder, file);
      add(std::filesystem::path(file).stem().string(), read_text_file(path), path);
    }
    if (has_some() && !sources_.contains("default"))
      refuse_file(folder + "/chat_template.jinja",
                  fmt::format("is missing beside the templates in {}", folder_of_others));
  }
  void add(const std::string& name, std::string source, const std::string& path) {
    sources_.insert_or_assign(name, Source{std::move(source), path});
  }

  std::map<std::string, Source> sources_;
  ModelTemplate result_;
};

std::map<std::string, std::string> chat_template_sources(const std::string& folder) {
  ModelTemplateReader reader;
  reader.read_folder(folder);
  return std::move(reader).take_sources();
}

ModelTemplate ModelTemplate::of_file(const std::string& path) {
  if (is_folder(path)) {
    if (auto found = of_folder(path)) return *std::move(found);
    throw UsageError("CHAT-17", fmt::format("{} has no chat template: neither chat_template.jinja nor "
                                            "\"chat_template\" in tokenizer_config.json; name one with --template",
                                            in_quotes(path)));
  }
  ModelTemplateReader reader;
  path.ends_with(".json") ? reader.read_json(path) : reader.read_jinja(path);
  if (!reader.has_some())
    throw UsageError("CHAT-17", fmt::format("{} has no \"chat_template\"; name a file that has one with --template",
                                            in_quotes(path)));
  auto folder = std::filesystem::path(path).parent_path();
  if (folder.filename() == folder_of_others) folder = folder.parent_path();
  reader.read_tokens(path_in(folder.string(), "tokenizer_config.json"));
  return std::move(reader).take();
}

std::optional<ModelTemplate> ModelTemplate::of_folder(const std::string& folder) {
  ModelTemplateReader reader;
  reader.read_folder(folder);
  if (!reader.has_some()) return std::nullopt;
  return std::move(reader).take();
}

const jinja::Template& ModelTemplate::chosen(bool has_tools) const {
  const auto with_tools = templates_.find("tool_use");
  return has_tools && with_tools != templates_.end() ? with_tools->second : templates_.at("default");
}

/// It is tried: that the template's source has the word may be a comment.
bool ModelTemplate::takes_tools() const {
  using jinja::Value;
  constexpr const char* name = "a_tool_to_be_written";
  const Value schema =
                  Value::dict({{"type", "object"}, {"properties", Value::dict({})}, {"required", Value::list({})}}),
              function = Value::dict({{"name", name}, {"description", "Of use"}, {"parameters", schema}}),
              tool = Value::dict({{"type", "function"}, {"function", function}}),
              question = Value::dict({{"role", "user"}, {"content", "Is it there?"}});
  try {
    return render(Value::list({question}), Value::list({tool}), true).text.find(name) != std::string::npos;
  } catch (const Error&) {
    return true;  // it refuses this chat, and says itself which other ones
  }
}

jinja::Rendered ModelTemplate::render(const jinja::Value& messages, const jinja::Value& tools, bool with_answer_begun,
                                      std::time_t now, const jinja::RenderLimits& limits,
                                      const TemplateVariables& more) const {
  TemplateVariables variables = tokens_;
  set_variables(variables, variables_);
  set_variables(variables, more);
  variables.emplace_back("messages", messages);
  variables.emplace_back("tools", tools);
  variables.emplace_back("documents", jinja::Value());
  variables.emplace_back("add_generation_prompt", with_answer_begun);
  return chosen(!tools.is_none()).render(variables, limits, now);
}

const std::string* ModelTemplate::only_source() const {
  return templates_.size() == 1 ? &templates_.begin()->second.source() : nullptr;
}

const std::string* ModelTemplate::token(std::string_view name) const {
  const auto found = std::ranges::find(tokens_, name, &std::pair<std::string, jinja::Value>::first);
  return found == tokens_.end() ? nullptr : found->second.text();
}

std::uint64_t ModelTemplate::fingerprint() const {
  std::uint64_t state = fnv1a_64("of a model");
  // A zero byte behind each text keeps neighbours apart.
  const auto add = [&](std::string_view text) { state = fnv1a_64(std::string_view("\0", 1), fnv1a_64(text, state)); };
  for (const auto& [name, chat_template] : templates_) add(name), add(chat_template.source());
  for (const auto& [name, value] : tokens_) add(name), add(*value.text());
  jinja::Budget budget(jinja::RenderLimits{});
  for (const auto& [name, value] : variables_) add(name), add(jinja::json_of(budget, value, {}));
  return state;
}

}  // namespace monomorph::data
