#pragma once
#include <monomorph/spec/embedding_spec.hpp>

#include <nlohmann/json.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::train {

/// What the files of sentence-transformers say beside those of a model: how embeddings are made of its hidden states.
struct SentenceModules {
  EmbeddingSpec embedding;
  std::string projection{};                    ///< the folder with its weights, if there is one
  std::optional<std::int64_t> longest_text{};  ///< in tokens, what goes around it among them
  std::string prompt{};                        ///< put before each text
};

/// The names of the projection in a recipe and in its folder here.
inline constexpr std::string_view projection_weight = "projection.weight", projection_tensor = "linear.weight";

/// Nothing if the folder has no modules.json. Nothing outside of the folder is read (core/folder_files.hpp).
/// @param width of hidden states
/// @throws UsageError [WEIGHTS-14] a file is not as it must be, or not there; [WEIGHTS-04] all that recipes do not
///   have, by name; as path_in
std::optional<SentenceModules> read_sentence_modules(const std::string& folder, std::int64_t width);

/// By path what is written for these modules, whose projection lies in their folder.
std::map<std::string, nlohmann::json> sentence_files(const SentenceModules& modules, std::int64_t width);

/// The folder that an export has of a projection.
inline constexpr std::string_view exported_projection = "2_Dense";

}  // namespace monomorph::train
