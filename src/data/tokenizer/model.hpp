#pragma once
#include "data/tokenizer/models/character_bpe.hpp"
#include "data/tokenizer/models/word_level_model.hpp"

#include <monomorph/data/bpe/byte_level_bpe.hpp>
#include <monomorph/data/tokenizer/models/unigram_model.hpp>
#include <monomorph/data/tokenizer/models/word_piece_model.hpp>

#include <optional>
#include <unordered_map>
#include <variant>

namespace monomorph::data {

/// What turns a piece into ids. Immutable; threads may share one.
using Model = std::variant<ByteLevelBpe, CharacterBpe, UnigramModel, WordPieceModel, WordLevelModel>;

/// The model of a definition.
/// @param of_bytes for a byte-level BPE: it gets the bytes themselves  @throws [TOK-03], [TOK-40]
Model make_model(const TokenizerDefinition& definition, const Vocabulary& vocabulary, bool of_bytes);

/// The pieces of a byte-level BPE are encoded as bytes: every byte has a token, and no piece is more than its bytes.
/// @throws [TOK-03] if a byte has no token and there is none for what is unknown
bool has_byte_level_model(const TokenizerDefinition& definition, const Vocabulary& vocabulary);

/// Encodes the pieces of many texts and remembers them. One per thread; the model must outlive it.
class ModelEncoder {
 public:
  ModelEncoder(const Model& model, std::size_t most_cache_bytes);

  /// Appends the ids of one piece, which is not empty.
  void encode(std::string_view piece, std::vector<std::int32_t>& ids);

  /// The encoder of a byte-level BPE.
  ByteLevelBpeEncoder& of_bytes() { return *byte_level_; }

 private:
  void encode_part(std::string_view part, std::vector<std::int32_t>& ids);
  void encode_unknown_part(std::string_view part, std::vector<std::int32_t>& ids);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  const Model& model_;
  std::optional<ByteLevelBpeEncoder> byte_level_;
  std::optional<BytePairMerger> merger_;
  std::unordered_map<std::string, std::vector<std::int32_t>, Hash, std::equal_to<>> known_;
  std::size_t most_known_;
};

}  // namespace monomorph::data
