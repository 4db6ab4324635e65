#pragma once
#include <monomorph/data/text/piece_trie.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// The settings of a "Unigram" model of a tokenizer.json.
struct UnigramSettings {
  std::optional<std::int32_t> unknown_id{};
  bool byte_fallback =
      false;  ///< what is unknown becomes its bytes, "<0x00>" to "<0xFF>", where all of them are pieces
};

/// Cuts words into the pieces whose scores add up to the most. Immutable; threads may share one.
class UnigramModel {
 public:
  /// @param scores log probabilities, one for each of the pieces, whose ids are their places
  /// @throws [TOK-40] if there is no piece with the id of the unknown one
  UnigramModel(std::span<const std::string> pieces, std::span<const double> scores, UnigramSettings settings);

  /// Appends the ids of `word`, valid UTF-8. Neighbouring unknown characters become one unknown.
  /// @throws [TOK-41] for a character without a piece if there is no unknown id
  void encode(std::string_view word, std::vector<std::int32_t>& ids) const;

  /// The id of a piece; of equal ones the last.
  std::optional<std::int32_t> find(std::string_view piece) const;

 private:
  class Search;

  PieceTrie trie_;
  std::vector<double> scores_;  ///< by id
  double unknown_score_;
  std::int32_t unknown_id_;                 ///< -1: there is none
  std::array<std::int32_t, 256> byte_ids_;  ///< -1: no such piece, or bytes are not asked for
};

}  // namespace monomorph::data
