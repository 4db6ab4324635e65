#pragma once
#include "data/tokenizer/models/best_paths.hpp"
#include "data/tokenizer/sentence_piece/sentence_piece_file.hpp"

#include <monomorph/data/text/piece_trie.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// A Unigram model as SentencePiece's library computes it, rounding included: on a long text the sum of the scores is
/// so large a `float` that it decides between paths. Immutable; threads may share one.
class SentencePieceUnigram {
 public:
  explicit SentencePieceUnigram(const SentencePieceFile& file);

  /// Calls emit(id, piece) for the pieces of `text`; a character without a piece has the id `unknown_id`.
  template <class Emit> void encode(std::string_view text, std::int32_t unknown_id, Emit emit) const {
    BestPaths<float> paths(longest_step());
    const auto write_out = [&] {
      paths.write_out([&](std::size_t position, BestPaths<float>::Step step) {
        emit(step.id, text.substr(position, step.length));
      });
    };
    for (std::size_t position = 0; position < text.size();) {
      if (position == paths.farthest()) write_out();
      position += extend(paths, text, position, unknown_id);
    }
    write_out();
  }

 private:
  std::size_t longest_step() const;
  /// Takes all steps from `position`; returns the bytes of the character there.
  std::size_t extend(BestPaths<float>& paths, std::string_view text, std::size_t position,
                     std::int32_t unknown_id) const;
  double score(PieceTrie::Match match) const;

  PieceTrie trie_;  ///< of the pieces that may be used
  std::vector<float> scores_;
  std::vector<bool> is_user_defined_;
  float highest_, unknown_score_;
};

}  // namespace monomorph::data
