#pragma once
#include <monomorph/spec/low_rank_spec.hpp>

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// adapter_config.json, in which Hugging Face's peft says what its adapters compute.
namespace monomorph::train {

/// By target the rank of its adapters, which is a multiple of the recipe's where several are one there.
using AdapterRanks = std::map<std::string, std::int64_t>;

/// The keys that say what a recipe's adapters are: with such an alpha that their scale is the recipe's at any rank.
nlohmann::json adapter_config(const LowRankSpec& spec, const AdapterRanks& ranks);

struct CheckedAdapterConfig {
  std::size_t form = 0;            ///< of those that were given, which it is
  std::vector<std::string> notes;  ///< a line if dropout differs, which training alone has
};

/// Compares a file with the adapters of a recipe of that name. Keys that change nothing in what is computed are not
/// looked at.
/// @param forms the ways to write them, at least one
/// @throws UsageError [ADAPTER-01] the file is no JSON object, or not of LoRA; [ADAPTER-02] it says what the recipe's
///   adapters are in none of the forms: all in which it differs from the first, by name; as read_text_file
CheckedAdapterConfig check_adapter_config(const std::string& path, const LowRankSpec& spec,
                                          std::span<const AdapterRanks> forms, std::string_view recipe);

}  // namespace monomorph::train
