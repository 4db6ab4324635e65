#pragma once
#include "data/tokenizer/sentence_piece/sentence_piece_file.hpp"

#include <monomorph/data/text/piece_trie.hpp>
#include <monomorph/data/tokenizer/stages/precompiled_character_map.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// What SentencePiece makes of a text before it cuts it into pieces. Immutable; threads may share one.
class SentencePieceNormalizer {
 public:
  /// @throws [TOK-43] if the character map is damaged
  explicit SentencePieceNormalizer(const SentencePieceFile& file);

  /// @param text valid UTF-8
  std::string apply(std::string_view text) const;

  /// The bytes of the piece named by the user that `text` starts with; 0 if there is none.
  std::size_t length_of_user_defined(std::string_view text) const { return user_defined_.longest_prefix(text).length; }

 private:
  struct Step {
    std::size_t n_bytes;      ///< read
    std::string_view output;  ///< in their place
  };
  Step step(std::string_view text) const;
  void append(std::string_view text, std::string& output) const;

  PieceTrie user_defined_;  ///< stay as they are
  std::optional<PrecompiledCharacterMap> map_;
  std::string_view space_;  ///< what the pieces have for one
  bool adds_space_, spaces_end_words_, drops_extra_spaces_;
};

}  // namespace monomorph::data
