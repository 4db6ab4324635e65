#pragma once
#include "data/tokenizer/sentence_piece/sentence_piece_bpe.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_file.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_normalizer.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_unigram.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

namespace monomorph::data {

/// Text to the ids of a SentencePiece file, those of the library, in little memory. Immutable; threads may share one.
class SentencePieceEncoder {
 public:
  /// Whether this encodes what the file asks for. It does not for models of whole words or single characters, for BPE
  /// with unused pieces (a merge in one place changes another) or names with two meanings, and for pieces that are no
  /// text.
  static bool can_encode(const SentencePieceFile& file);

  /// @throws [TOK-43] if the character map is damaged
  explicit SentencePieceEncoder(const SentencePieceFile& file);
  SentencePieceEncoder(const SentencePieceEncoder&) = delete;

  /// Appends the ids of `text`, valid UTF-8.
  void encode(std::string_view text, std::vector<std::int32_t>& ids) const;

 private:
  void find_ids(const SentencePieceFile& file);

  SentencePieceNormalizer normalizer_;
  std::variant<SentencePieceUnigram, SentencePieceBpe> model_;
  std::int32_t unknown_id_ = -1;
  std::optional<std::array<std::int32_t, 256>> byte_ids_;  ///< none: what is unknown is the unknown id
};

}  // namespace monomorph::data
