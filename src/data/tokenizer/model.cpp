#include "data/tokenizer/model.hpp"

#include "core/overloaded.hpp"
#include "data/tokenizer/definition/inconsistency.hpp"
#include "data/tokenizer/models/bpe_rules.hpp"

#include <monomorph/data/text/byte_level.hpp>

namespace monomorph::data {
namespace {

// Pieces beyond these are rare, and remembering them would cost more than it saves.
constexpr std::size_t longest_known_piece = 64;
constexpr std::size_t bytes_of_known_piece = 64;  // those of the cache for each piece that it may hold

ByteLevelBpe make_byte_level_bpe(const tokenizer_models::Bpe& settings, const Vocabulary& vocabulary) {
  std::array<std::int32_t, 256> id_of_byte{};
  for (std::size_t byte = 0; byte < 256; ++byte) id_of_byte[byte] = *vocabulary.find(byte_level_alphabet()[byte]);
  std::vector<std::string> whole_words;
  if (settings.ignore_merges) {
    for (std::int32_t id = 0; id < vocabulary.size(); ++id) {
      whole_words.push_back(from_byte_level(vocabulary.token(id)).value_or(""));  // of no word, if it is no bytes
    }
  }
  return ByteLevelBpe(id_of_byte, bpe_rules(settings, vocabulary), whole_words);
}

}  // namespace

bool has_byte_level_model(const TokenizerDefinition& definition, const Vocabulary& vocabulary) {
  const auto* bpe = std::get_if<tokenizer_models::Bpe>(&definition.model);
  if (!bpe || !bpe->continuing_subword_prefix.empty() || !bpe->end_of_word_suffix.empty()) return false;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    if (vocabulary.find(byte_level_alphabet()[byte])) continue;
    if (bpe->unk_token && vocabulary.find(*bpe->unk_token)) return false;
    throw_inconsistent("the vocabulary lacks a token for the byte 0x{:02X}, so not every text has ids", byte);
  }
  return true;
}

Model make_model(const TokenizerDefinition& definition, const Vocabulary& vocabulary, bool of_bytes) {
  return std::visit(
      Overloaded{
          [&](const tokenizer_models::Bpe& bpe) -> Model {
            if (of_bytes) return make_byte_level_bpe(bpe, vocabulary);
            return CharacterBpe(bpe, vocabulary);
          },
          [&](const tokenizer_models::Unigram& unigram) -> Model {
            return UnigramModel(definition.vocabulary, unigram.scores, {unigram.unk_id, unigram.byte_fallback});
          },
          [&](const tokenizer_models::WordPiece& model) -> Model {
            return WordPieceModel(definition.vocabulary,
                                  {model.unk_token, model.continuing_subword_prefix, model.max_input_chars_per_word});
          },
          [&](const tokenizer_models::WordLevel& model) -> Model {
            return WordLevelModel(vocabulary, model.unk_token);
          },
      },
      definition.model);
}

ModelEncoder::ModelEncoder(const Model& model, std::size_t most_cache_bytes)
    : model_(model), most_known_(most_cache_bytes / bytes_of_known_piece) {
  if (const auto* bpe = std::get_if<ByteLevelBpe>(&model)) byte_level_.emplace(*bpe, most_cache_bytes);
  if (const auto* bpe = std::get_if<CharacterBpe>(&model)) merger_.emplace(bpe->merges());
}

void ModelEncoder::encode(std::string_view piece, std::vector<std::int32_t>& ids) {
  if (byte_level_) return byte_level_->encode_word(piece, ids);
  const auto* bpe = std::get_if<CharacterBpe>(&model_);
  while (bpe && !piece.empty()) {
    const std::string_view part = piece.substr(0, bpe->first_part(piece));
    encode_part(part, ids);
    piece.remove_prefix(part.size());
  }
  if (!bpe) encode_part(piece, ids);
}

void ModelEncoder::encode_part(std::string_view part, std::vector<std::int32_t>& ids) {
  if (part.size() > longest_known_piece) return encode_unknown_part(part, ids);
  if (const auto known = known_.find(part); known != known_.end()) {
    ids.insert(ids.end(), known->second.begin(), known->second.end());
    return;
  }
  const std::size_t n_before = ids.size();
  encode_unknown_part(part, ids);
  if (known_.size() >= most_known_) known_.clear();
  known_.emplace(part, std::vector(ids.begin() + static_cast<std::ptrdiff_t>(n_before), ids.end()));
}

void ModelEncoder::encode_unknown_part(std::string_view part, std::vector<std::int32_t>& ids) {
  std::visit(Overloaded{
                 [&](const ByteLevelBpe&) {},  // it remembers words itself
                 [&](const CharacterBpe& bpe) { bpe.encode(part, *merger_, ids); },
                 [&](const auto& model) { model.encode(part, ids); },
             },
             model_);
}

}  // namespace monomorph::data
