#pragma once
#include "data/formats/token_bytes.hpp"

#include <monomorph/data/formats/convert.hpp>
#include <monomorph/data/formats/document_source.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace monomorph::data {

/// How token ids lie in a file, always with the lowest byte first.
struct TokenType {
  std::uint32_t n_bytes;  ///< 1, 2, 4 or 8
  bool is_signed;
};

/// Documents of tokens of one type.
struct TokenSource {
  std::unique_ptr<DocumentSource> documents;
  TokenType type;
};

/// Where documents begin or end in files that do not say.
struct DocumentMarks {
  std::optional<std::uint32_t> end, begin;
};

// What llm.c's headers have in common: 256 numbers of 4 bytes: which kind of file, its version, the number of tokens.
struct LlmcHeader {
  static constexpr std::size_t n_bytes = 256 * 4;
  std::uint32_t magic, version, n_tokens;
  friend bool operator==(const LlmcHeader&, const LlmcHeader&) = default;

  /// The first bytes of the header of so many tokens of 2 or 4 bytes.
  static LlmcHeader of(std::uint32_t bytes_per_token, std::uint32_t n_tokens);
  /// Nothing if the bytes are too few.
  static std::optional<LlmcHeader> read(std::span<const std::byte> bytes);
  /// 2 or 4 for the kinds that hold tokens; nothing for anything else.
  std::optional<std::uint32_t> bytes_per_token() const;
};

// The begin of Megatron's .idx: 9 bytes of magic, 8 version, 1 type, 8 number of sequences, 8 number of documents and
// one more; the lengths of the sequences in tokens (4 bytes each) and their offsets in bytes (8), and for each document
// the number of its first sequence and at last that of all sequences (8) follow.
inline constexpr std::string_view megatron_magic{"MMIDIDX\0\0", 9};
inline constexpr std::size_t megatron_header_bytes = 34;
inline constexpr std::uint64_t megatron_version = 1;

/// @throws [DATA-49], [FILE-NN]
TokenSource open_flat_tokens(const std::string& path, TokenFormat format, DocumentMarks marks);
/// @param path the .bin   @throws [DATA-49], [FILE-NN]
TokenSource open_megatron(const std::string& path);

/// @throws [DATA-48] at the end for more tokens than llm.c's header can say
std::unique_ptr<DocumentSink> create_flat_tokens(const std::string& path, TokenFormat format,
                                                 std::uint32_t bytes_per_token);
/// @param path the .bin   @throws [DATA-48] for a document of 2^31 tokens or more
std::unique_ptr<DocumentSink> create_megatron(const std::string& path, std::uint32_t bytes_per_token);

}  // namespace monomorph::data
