#include "train/weights/sentence_modules.hpp"

#include "core/folder_files.hpp"
#include "core/is_there.hpp"
#include "train/weights/listed.hpp"
#include "train/weights/unique_json.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr ErrorId broken = "WEIGHTS-14";
constexpr std::string_view identity = "torch.nn.modules.linear.Identity", of_text = "sentence_embedding";

[[noreturn]] void refuse_file(const std::string& path, const std::string& what) {
  throw UsageError(broken,
                   fmt::format("{} {}; copy the folder again, or have sentence-transformers save the model again",
                               in_quotes(path), what));
}
[[noreturn]] void refuse_model(const std::string& path, std::vector<std::string> features) {
  throw UsageError("WEIGHTS-04",
                   fmt::format("{} has what no recipe expresses: {}; a key that changes nothing in what the model "
                               "computes may be deleted there",
                               in_quotes(path), listed(std::move(features), ", ")));
}

/// One file's keys, each of which is to be read: one that is left over may change what the model computes.
class ModuleConfig {
 public:
  explicit ModuleConfig(std::string path) : path_(std::move(path)), left_(read_unique_object(path_, broken)) {}

  /// Null if the key is not there.
  json take(const std::string& key) {
    const auto found = left_.find(key);
    if (found == left_.end()) return nullptr;
    json value = std::move(*found);
    left_.erase(found);
    return value;
  }
  /// Nothing if the key is not there, or null.
  std::optional<std::int64_t> take_size(const std::string& key) {
    const json value = take(key);
    if (value.is_null()) return std::nullopt;
    constexpr std::int64_t most = std::int64_t{1} << 40;
    if (!value.is_number_integer() || value < 1 || value > most) refuse_value(key, value, "a whole number from 1 on");
    return value.get<std::int64_t>();
  }
  bool take_flag(const std::string& key) {
    const json value = take(key);
    if (!value.is_null() && !value.is_boolean()) refuse_value(key, value, "true or false");
    return value == true;
  }
  /// A key that recipes have with this value alone.   @param absent what it is where it is not there
  void take_fixed(const std::string& key, const json& only, const json& absent) {
    const json value = left_.contains(key) ? take(key) : absent;
    if (value != only) add_beyond(entry_text(key, value));
  }
  void take_fixed(const std::string& key, const json& only) { take_fixed(key, only, only); }

  void add_beyond(std::string feature) { beyond_.push_back(std::move(feature)); }
  [[noreturn]] void refuse_value(const std::string& key, const json& value, std::string_view must_be) const {
    refuse_file(path_, fmt::format("has {}, which must be {}", entry_text(key, value), must_be));
  }
  const std::string& path() const { return path_; }
  void finish() {
    for (const auto& [key, value] : left_.items()) add_beyond(entry_text(key, value));
    if (!beyond_.empty()) refuse_model(path_, std::move(beyond_));
  }

 private:
  std::string path_;
  json left_;
  std::vector<std::string> beyond_;
};

constexpr std::array<std::pair<std::string_view, Pooling>, 3> pooling_modes{
    {{"cls", Pooling::first}, {"mean", Pooling::mean}, {"lasttoken", Pooling::last}}};
/// The keys of versions before 6, which say of each mode whether it is among those of the model.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> older_mode_keys{
    {{"pooling_mode_cls_token", "cls"},
     {"pooling_mode_mean_tokens", "mean"},
     {"pooling_mode_max_tokens", "max"},
     {"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
     {"pooling_mode_weightedmean_tokens", "weightedmean"},
     {"pooling_mode_lasttoken", "lasttoken"}}};

/// What a file of either version names; without any, the mean.
std::vector<std::string> modes_of(ModuleConfig& config) {
  std::vector<std::string> modes;
  for (const auto& [key, mode] : older_mode_keys)
    if (config.take_flag(std::string(key))) modes.emplace_back(mode);
  if (const json named = config.take("pooling_mode"); !named.is_null()) {
    const json list = named.is_array() ? named : json::array({named});
    if (!std::ranges::all_of(list, [](const json& mode) { return mode.is_string(); }))
      config.refuse_value("pooling_mode", named, "a name, or several");
    modes = list.get<std::vector<std::string>>();
  }
  if (modes.empty()) modes.emplace_back("mean");
  return modes;
}

Pooling read_pooling(const std::string& path, std::int64_t width) {
  ModuleConfig config(path);
  const std::vector<std::string> modes = modes_of(config);
  for (const char* const key : {"embedding_dimension", "word_embedding_dimension"})
    if (const auto size = config.take_size(key); size && size != width)
      config.refuse_value(key, *size, fmt::format("{}, the model's hidden_size", width));
  config.take("include_prompt");  // changes nothing without a prompt
  const auto found = std::ranges::find(pooling_modes, modes.front(), &std::pair<std::string_view, Pooling>::first);
  const bool is_known = modes.size() == 1 && found != pooling_modes.end();
  if (!is_known) config.add_beyond(fmt::format("pooling by {}", in_quotes(listed(modes, " and "))));
  config.finish();
  return found->second;
}

/// @return how many features it makes
std::int64_t read_projection(const std::string& path, std::int64_t width) {
  ModuleConfig config(path);
  const auto from = config.take_size("in_features"), features = config.take_size("out_features");
  if (!from || !features) refuse_file(path, "has no in_features or no out_features");
  if (*from != width) config.refuse_value("in_features", *from, fmt::format("{}, the width of what is pooled", width));
  config.take_fixed("bias", false, true);
  config.take_fixed("activation_function", identity, "torch.nn.modules.activation.Tanh");
  config.take_fixed("use_residual", false);
  for (const char* const key : {"module_input_name", "module_output_name"}) config.take_fixed(key, of_text);
  config.finish();
  return *features;
}

/// Of versions from 6 on.
void check_normalization(const std::string& path) {
  if (!is_there(path)) return;
  ModuleConfig config(path);
  for (const char* const key : {"module_input_name", "module_output_name"}) config.take_fixed(key, of_text);
  config.finish();
}

/// The first of these that is there: the kind of model was once part of the name.
constexpr std::array<std::string_view, 4> text_configs{"sentence_bert_config.json", "sentence_roberta_config.json",
                                                       "sentence_camembert_config.json",
                                                       "sentence_xlm-roberta_config.json"};

std::optional<std::int64_t> read_longest_text(const std::string& folder) {
  for (const std::string_view name : text_configs) {
    const std::string path = path_in(folder, name);
    if (!is_there(path)) continue;
    ModuleConfig config(path);
    const auto longest = config.take_size("max_seq_length");
    config.take_fixed("do_lower_case", false);
    config.take_fixed("transformer_task", "feature-extraction");
    config.take_fixed("module_output_name", "token_embeddings");
    config.take_fixed("modality_config",
                      {{"text", {{"method", "forward"}, {"method_output_name", "last_hidden_state"}}}});
    config.finish();
    return longest;
  }
  return std::nullopt;
}

/// The prompt before texts that are given without another. What else the file has is not the model's.
std::string read_prompt(const std::string& folder) {
  const std::string path = path_in(folder, "config_sentence_transformers.json");
  if (!is_there(path)) return "";
  ModuleConfig config(path);
  const json name = config.take("default_prompt_name"), prompts = config.take("prompts");
  if (name.is_null()) return "";
  if (!name.is_string()) config.refuse_value("default_prompt_name", name, "a name");
  if (!prompts.is_object() || !prompts.contains(name.get<std::string>()) ||
      !prompts[name.get<std::string>()].is_string())
    refuse_file(path, "has no prompt of the name " + in_quotes(name.get<std::string>()));
  return prompts[name.get<std::string>()];
}

struct Module {
  std::string kind;  ///< the name of the class, with its place if that is not in sentence-transformers
  std::string path;  ///< of its folder
};

/// Where classes lie differs between versions.
std::string kind_of(const std::string& type) {
  return type.starts_with("sentence_transformers.") ? type.substr(type.rfind('.') + 1) : type;
}

Module module_of(const json& entry, const std::string& path) {
  const auto text = [&](const char* key) -> std::string {
    const auto found = entry.find(key);
    if (found == entry.end() || !found->is_string())
      refuse_file(path, fmt::format("has a module whose {} is no text", key));
    return *found;
  };
  if (!entry.is_object()) refuse_file(path, "has a module that is no JSON object");
  std::vector<std::string> beyond;
  for (const auto& [key, value] : entry.items())
    if (key != "idx" && key != "name" && key != "path" && key != "type") beyond.push_back(entry_text(key, value));
  if (!beyond.empty()) refuse_model(path, std::move(beyond));
  return {kind_of(text("type")), text("path")};
}

/// A module's folder lies in the model's, whose files are the Transformer's.
void check_path(const Module& module, const std::string& path) {
  const bool is_plain = !module.path.empty() && !module.path.starts_with('.') &&
                        module.path.find_first_of(std::string_view("/\\\0", 3)) == std::string::npos;
  if (module.kind == "Transformer" ? module.path.empty() : is_plain) return;
  refuse_file(path, fmt::format("has {} in {}, and must have {}", in_quotes(module.kind), in_quotes(module.path),
                                module.kind == "Transformer" ? "it beside itself, with an empty path"
                                                             : "the name of a folder beside it"));
}

}  // namespace

std::optional<SentenceModules> read_sentence_modules(const std::string& folder, std::int64_t width) {
  const std::string path = path_in(folder, "modules.json");
  if (!is_there(path)) return std::nullopt;
  std::vector<Module> modules;
  std::vector<std::string> kinds;
  for (const json& entry : read_unique_array(path, broken)) {
    modules.push_back(module_of(entry, path));
    kinds.push_back(modules.back().kind);
  }
  auto next = modules.begin();
  const auto take = [&](std::string_view kind) -> const Module* {
    return next != modules.end() && next->kind == kind ? &*next++ : nullptr;
  };
  const Module *transformer = take("Transformer"), *pooling = take("Pooling"), *dense = take("Dense"),
               *normalize = take("Normalize");
  if (transformer == nullptr || pooling == nullptr || next != modules.end())
    refuse_model(path, {fmt::format("the modules {} (they must be Transformer, Pooling, and perhaps Dense and "
                                    "Normalize, in this order)",
                                    in_quotes(listed(std::move(kinds), ", ")))});
  for (const Module& module : modules) check_path(module, path);
  const auto config_of = [&](const Module& module) { return path_in(folder, module.path + "/config.json"); };
  SentenceModules read{.embedding = {.pooling = read_pooling(config_of(*pooling), width),
                                     .unit_length = normalize != nullptr},
                       .longest_text = read_longest_text(folder),
                       .prompt = read_prompt(folder)};
  if (dense != nullptr) {
    read.embedding.features = read_projection(config_of(*dense), width);
    read.projection = dense->path;
  }
  if (normalize != nullptr) check_normalization(config_of(*normalize));
  return read;
}

std::map<std::string, json> sentence_files(const SentenceModules& modules, std::int64_t width) {
  const EmbeddingSpec& embedding = modules.embedding;
  std::map<std::string, json> files;
  json list = json::array();
  const auto add = [&](const std::string& kind, const std::string& path) {
    list.push_back({{"idx", list.size()},
                    {"name", fmt::format("{}", list.size())},
                    {"path", path},
                    {"type", "sentence_transformers.models." + kind}});
  };
  add("Transformer", "");
  files[std::string(text_configs.front())] = {{"max_seq_length",
                                               modules.longest_text ? json(*modules.longest_text) : json(nullptr)},
                                              {"do_lower_case", false}};
  add("Pooling", "1_Pooling");
  json& pooling = files["1_Pooling/config.json"] = {{"word_embedding_dimension", width}, {"include_prompt", true}};
  for (const auto& [key, older] : older_mode_keys)
    pooling[std::string(key)] = std::ranges::any_of(pooling_modes, [&embedding, &name = older](const auto& mode) {
      return mode.first == name && mode.second == embedding.pooling;
    });
  if (embedding.features.given) {
    add("Dense", modules.projection);
    files[modules.projection + "/config.json"] = {{"in_features", width},
                                                  {"out_features", embedding.features.value},
                                                  {"bias", false},
                                                  {"activation_function", identity}};
  }
  if (embedding.unit_length) add("Normalize", fmt::format("{}_Normalize", list.size()));
  files["modules.json"] = list;
  return files;
}

}  // namespace monomorph::train
