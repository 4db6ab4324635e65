#pragma once
#include <monomorph/data/text/piece_trie.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// What a SentencePiece `.model` file says about encoding.
struct SentencePieceFile {
  enum class Algorithm : std::uint64_t { unigram = 1, bpe = 2, word = 3, character = 4 };
  enum class Type : std::uint64_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  struct Piece {
    std::string_view text;
    float score = 0;
    Type type = Type::normal;

    bool is_found_in_text() const { return type == Type::normal || type == Type::user_defined; }
  };

  /// @param bytes of a file that the library accepts; must outlive it
  explicit SentencePieceFile(std::string_view bytes);

  /// The ids of the pieces that are found in a text.
  PieceTrie trie_of_text() const;

  std::vector<Piece> pieces;  ///< by id
  Algorithm algorithm = Algorithm::unigram;
  bool has_byte_pieces = false;    ///< what is unknown becomes its bytes
  bool spaces_end_words = false;   ///< a word has its space after it
  std::string_view character_map;  ///< compiled; empty: there is none
  bool adds_space = true;          ///< before the text; after it if spaces end words
  bool drops_extra_spaces = true;  ///< around the text, and all but one between words
  bool marks_spaces = true;        ///< with U+2581

 private:
  void read_piece(std::string_view message);
  void read_training(std::string_view message);
  void read_normalization(std::string_view message);
};

}  // namespace monomorph::data
