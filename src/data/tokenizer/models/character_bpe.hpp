#pragma once
#include "data/tokenizer/definition/vocabulary.hpp"

#include <monomorph/data/bpe/byte_pair_merger.hpp>
#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// Byte-pair encoding of pieces that are characters. Immutable; threads may share one.
class CharacterBpe {
 public:
  /// @throws [TOK-03] if merges and vocabulary contradict each other
  CharacterBpe(const tokenizer_models::Bpe& settings, const Vocabulary& vocabulary);

  const MergeTable& merges() const { return merges_; }

  /// Appends the ids of a piece, which is not empty.
  /// @throws [TOK-12] for a character without a token if the vocabulary lacks the unk_token
  void encode(std::string_view piece, BytePairMerger& merger, std::vector<std::int32_t>& ids) const;

  /// The length of the first part of a piece that no merge joins to the rest, at least where such a place is easy to
  /// find: the parts have the ids of the whole.
  std::size_t first_part(std::string_view piece) const;
  /// It finds each place where a metaspace follows something else.
  bool parts_at_metaspace() const { return parts_at_metaspace_; }

 private:
  std::string with_affixes(std::string_view character, bool is_first, bool is_last) const;
  std::int32_t unknown_id(std::string_view character) const;
  bool append_bytes(std::string_view character, std::vector<std::int32_t>& ids) const;
  bool joins_nothing_to_metaspace(const std::vector<MergeRule>& rules) const;

  static constexpr std::int32_t none = -1;

  tokenizer_models::Bpe settings_;
  const Vocabulary& vocabulary_;
  MergeTable merges_;
  std::vector<std::int32_t> id_of_character_;  ///< by code point, as long as some character has an id
  std::array<std::int32_t, 256> id_of_byte_;   ///< of "<0x00>" to "<0xFF>"
  std::int32_t unknown_id_ = none;
  bool parts_at_metaspace_ = false;
};

}  // namespace monomorph::data
