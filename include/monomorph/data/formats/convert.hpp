#pragma once
#include <monomorph/data/work/progress.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// Files that hold token ids.
enum class TokenFormat {
  packed,    ///< .pbin
  nanogpt,   ///< .bin: token ids of 2 bytes and nothing else
  llm_c,     ///< .bin: a header of 256 numbers, then token ids of 2 bytes, or 4 under another header
  megatron,  ///< .bin: token ids, and .idx beside it: type, lengths of the sequences, where documents begin
};
/// "pbin", "nanogpt", "llm.c" or "megatron".
std::string_view name_of(TokenFormat format);
/// @throws [DATA-50] for another name
TokenFormat token_format(std::string_view name);

struct ConvertSettings {
  std::optional<TokenFormat> from{}, to{};         ///< unless given, told by the name and the first bytes
  std::optional<std::uint32_t> bytes_per_token{};  ///< unless given, that of the input, as far as the format allows
  /// In files that do not say where documents are: the token that ends each, or the one that begins each.
  std::optional<std::uint32_t> end_of_document{}, begin_of_document{};
};

struct ConvertSummary {
  TokenFormat from, to;
  std::int64_t n_documents = 0;
  std::uint64_t n_tokens = 0;
  std::uint32_t bytes_per_token = 0;
};

/// The index of a Megatron set: the name of the .bin with .idx in its place.
std::string megatron_index_path(const std::string& path);

/// Writes token ids in another format or width. Documents, their order and every id stay what they are.
/// @throws [DATA-50] if a format cannot be told; [DATA-49] if the input is damaged or in another format; [DATA-48] if
/// the format to be written has no room for it; [DATA-47] for an id that does not fit the width; [DATA-05], [DATA-06];
/// [FILE-NN]
ConvertSummary convert(const std::string& input, const std::string& output, const ConvertSettings& settings,
                       const ProgressCallback& progress = {});

}  // namespace monomorph::data
