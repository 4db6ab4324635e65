#pragma once
#include <monomorph/data/text/piece_trie.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// The settings of a "WordPiece" model of a tokenizer.json.
struct WordPieceSettings {
  std::string unknown_token = "[UNK]";
  std::string continuing_subword_prefix = "##";  ///< begins every piece that is not the first of its word
  std::size_t max_input_chars_per_word = 100;    ///< a longer word is unknown
};

/// Cuts words into pieces, each the longest that fits; a word that cannot be cut so is unknown as a whole.
/// Immutable; threads may share one.
class WordPieceModel {
 public:
  /// @param pieces by id; "" where an id has none
  WordPieceModel(std::span<const std::string> pieces, WordPieceSettings settings);

  /// Appends the ids of `word`, valid UTF-8.
  /// @throws [TOK-42] for an unknown word if the vocabulary lacks the unknown token
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

  std::optional<std::int32_t> find(std::string_view piece) const;

 private:
  bool is_too_long(std::string_view word) const;
  std::int32_t unknown(std::string_view word) const;

  WordPieceSettings settings_;
  PieceTrie first_;       ///< all pieces
  PieceTrie continuing_;  ///< those that begin with the prefix, without it
};

}  // namespace monomorph::data
