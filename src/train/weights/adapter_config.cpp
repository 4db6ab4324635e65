#include "train/weights/adapter_config.hpp"

#include "train/weights/listed.hpp"
#include "train/weights/unique_json.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace monomorph::train {
namespace {

using nlohmann::json;

/// A whole number without a point, as people write it.
json number(double value) {
  if (value > 1e15) return value;
  const auto whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? json(whole) : json(value);
}

/// Keys that must be empty: any other value is a feature that recipes do not have.
constexpr std::string_view empty_keys[]{"alora_invocation_tokens",
                                        "arrow_config",
                                        "kasa_config",
                                        "layer_replication",
                                        "layers_to_transform",
                                        "lora_bias",
                                        "modules_to_save",
                                        "monteclora_config",
                                        "target_parameters",
                                        "trainable_token_indices",
                                        "use_bdlora",
                                        "use_dora",
                                        "use_qalora"};

bool says_nothing(const json& value) { return value.is_null() || value == json(false) || value.empty(); }
std::string key_text(std::string_view key, const json& value) {
  constexpr std::size_t most = 60;
  const std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return fmt::format("{} {}", key, text.size() > most ? text.substr(0, most) + "…" : text);
}

/// Ways to begin that leave the base as it is when adapters are loaded. Most others change it then, too.
constexpr std::string_view beginnings_beside_base[]{"eva", "gaussian", "orthogonal"};
bool begins_beside_base(const json& init_lora_weights) {
  return init_lora_weights.is_null() || init_lora_weights.is_boolean() ||
         std::ranges::any_of(beginnings_beside_base, [&](std::string_view way) { return init_lora_weights == way; });
}

/// peft's own value of a key that is left out.
json absent_value(const std::string& key) {
  static const json usual{{"r", 8}, {"lora_alpha", 8}, {"use_rslora", false}, {"bias", "none"}};
  return usual.value(key, json());
}

/// The alpha with which adapters of that rank have the recipe's scale.
double alpha_of(const LowRankSpec& spec, std::int64_t rank) {
  const double joined = static_cast<double>(rank) / static_cast<double>(spec.rank.value);
  return spec.alpha * (spec.rank_stabilised ? std::sqrt(joined) : joined);
}

/// In what a file differs from what it must say.
std::vector<std::string> said_otherwise(const json& config, const json& ours) {
  std::vector<std::string> wrong;
  for (const auto& [key, here] : ours.items())
    if (const json there = config.value(key, absent_value(key));
        there != here && !(says_nothing(there) && here.is_object() && here.empty()))
      wrong.push_back(fmt::format("{} there, and {} in the recipe", key_text(key, there), here.dump()));
  return wrong;
}
void add_what_no_recipe_has(const json& config, std::vector<std::string>& wrong) {
  for (const std::string_view key : empty_keys)
    if (const json there = config.value(std::string(key), json()); !says_nothing(there))
      wrong.push_back(key_text(key, there) + ", which no recipe has");
  if (const json there = config.value("init_lora_weights", json()); !begins_beside_base(there))
    wrong.push_back(key_text("init_lora_weights", there) + ", which no recipe has");
}

}  // namespace

nlohmann::json adapter_config(const LowRankSpec& spec, const AdapterRanks& ranks) {
  const auto is_other = [&](const auto& one) { return one.second != ranks.begin()->second; };
  const bool alike = !ranks.empty() && std::ranges::none_of(ranks, is_other);
  const std::int64_t rank = alike ? ranks.begin()->second : spec.rank.value;
  json config{{"peft_type", "LORA"},
              {"r", rank},
              {"lora_alpha", number(alpha_of(spec, rank))},
              {"rank_pattern", json::object()},
              {"alpha_pattern", json::object()},
              {"use_rslora", spec.rank_stabilised.value},
              {"bias", "none"}};
  for (const auto& [target, own] : ranks)
    if (own != rank) {
      config["rank_pattern"][target] = own;
      config["alpha_pattern"][target] = number(alpha_of(spec, own));
    }
  return config;
}

CheckedAdapterConfig check_adapter_config(const std::string& path, const LowRankSpec& spec,
                                          std::span<const AdapterRanks> forms, std::string_view recipe) {
  const json config = read_unique_object(path, "ADAPTER-01");
  if (config.value("peft_type", json()) != "LORA")
    throw UsageError("ADAPTER-01", fmt::format("{} has {}, and must be of LORA; give other adapters", in_quotes(path),
                                               key_text("the peft_type", config.value("peft_type", json()))));
  const auto said = std::ranges::find_if(forms, [&](const AdapterRanks& ranks) {
    return said_otherwise(config, adapter_config(spec, ranks)).empty();
  });
  std::vector<std::string> wrong;
  if (said == forms.end()) wrong = said_otherwise(config, adapter_config(spec, forms.front()));
  add_what_no_recipe_has(config, wrong);
  if (!wrong.empty())
    throw UsageError("ADAPTER-02", fmt::format("the adapters in {} are not those of {}: {}; change the recipe's "
                                               "LowRankSpec, or give other adapters",
                                               in_quotes(path), recipe, listed(std::move(wrong))));
  CheckedAdapterConfig checked{static_cast<std::size_t>(said - forms.begin()), {}};
  const json dropout = config.value("lora_dropout", json(0.0));
  if (dropout != json(spec.dropout.value))
    checked.notes.push_back(fmt::format("of the adapters in {}, {} there, and {} here", path,
                                        key_text("lora_dropout", dropout), spec.dropout.value));
  return checked;
}

}  // namespace monomorph::train
