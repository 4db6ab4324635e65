#pragma once
#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>

namespace monomorph::train {

/// A run has no config.json: what that of its model says of special tokens lies in this file of its folder.
inline constexpr std::string_view special_token_ids_file = "special_token_ids.json";

/// The keys of config.json that name tokens: each one id, several, or null, which is none.
inline constexpr std::array<std::string_view, 3> special_token_keys{"bos_token_id", "eos_token_id", "pad_token_id"};

/// Those that a folder's files have, with their values: of a run what it keeps, of a model what its config.json says.
/// @throws UsageError [WEIGHTS-03] the file is no JSON object, or has a value of another type; [FILE-NN]
nlohmann::json special_token_ids(const std::string& folder);

/// The text of the file that keeps them; empty if there are none.
std::string special_token_ids_text(const nlohmann::json& ids);

/// Writes it into a run folder, if there are any.   @throws as AtomicFile
void keep_special_token_ids(const nlohmann::json& ids, const std::string& run_folder);

}  // namespace monomorph::train
