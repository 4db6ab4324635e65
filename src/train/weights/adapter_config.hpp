#pragma once
#include <monomorph/spec/low_rank_spec.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

/// adapter_config.json, in which Hugging Face's peft says what its adapters compute.
namespace monomorph::train {

/// The keys that say what a recipe's adapters are.
nlohmann::json adapter_config(const LowRankSpec& spec);

/// Compares a file with the adapters of a recipe of that name. Keys that change nothing in what is computed are not
/// looked at.
/// @return a line if dropout differs, which training alone has
/// @throws UsageError [ADAPTER-01] the file is no JSON object, or not of LoRA; [ADAPTER-02] it says what the recipe's
///   adapters are not: all that differs, by name; as read_text_file
std::vector<std::string> check_adapter_config(const std::string& path, const LowRankSpec& spec,
                                              std::string_view recipe);

}  // namespace monomorph::train
