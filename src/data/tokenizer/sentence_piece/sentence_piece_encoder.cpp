#include "data/tokenizer/sentence_piece/sentence_piece_encoder.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

namespace monomorph::data {
namespace {

using Algorithm = SentencePieceFile::Algorithm;
using Type = SentencePieceFile::Type;
using AnyModel = std::variant<SentencePieceUnigram, SentencePieceBpe>;

AnyModel make_model(const SentencePieceFile& file, const SentencePieceNormalizer& normalizer) {
  if (file.algorithm == Algorithm::bpe) return AnyModel(std::in_place_type<SentencePieceBpe>, file, normalizer);
  return AnyModel(std::in_place_type<SentencePieceUnigram>, file);
}

bool is_text(std::string_view piece) {
  return !piece.empty() && piece.find('\0') == std::string_view::npos && valid_utf8_prefix(piece) == piece.size();
}

/// What the text of a BPE model is taken for is looked up by name: no name may belong to two pieces, or be a character
/// that stands for something else.
bool has_clear_names(const SentencePieceFile& file) {
  std::unordered_set<std::string_view> names;
  return std::ranges::all_of(file.pieces, [&](const SentencePieceFile::Piece& piece) {
    const bool is_character = first_character(piece.text).n_bytes == piece.text.size();
    return names.insert(piece.text).second && !(is_character && piece.type == Type::control);
  });
}

}  // namespace

bool SentencePieceEncoder::can_encode(const SentencePieceFile& file) {
  const bool is_bpe = file.algorithm == Algorithm::bpe;
  if (!is_bpe && file.algorithm != Algorithm::unigram) return false;
  const auto can_use = [is_bpe](const SentencePieceFile::Piece& piece) {
    return is_text(piece.text) && !(is_bpe && piece.type == Type::unused);
  };
  return std::ranges::all_of(file.pieces, can_use) && (!is_bpe || has_clear_names(file));
}

SentencePieceEncoder::SentencePieceEncoder(const SentencePieceFile& file)
    : normalizer_(file), model_(make_model(file, normalizer_)) {
  find_ids(file);
}

void SentencePieceEncoder::find_ids(const SentencePieceFile& file) {
  if (file.has_byte_pieces) byte_ids_.emplace();
  for (std::size_t id = 0; id < file.pieces.size(); ++id) {
    const auto& [text, score, type] = file.pieces[id];
    if (type == Type::unknown) unknown_id_ = static_cast<std::int32_t>(id);
    for (std::size_t byte = 0; byte_ids_ && type == Type::byte && byte < byte_ids_->size(); ++byte) {
      if (text == fmt::format("<0x{:02X}>", byte)) (*byte_ids_)[byte] = static_cast<std::int32_t>(id);
    }
  }
}

void SentencePieceEncoder::encode(std::string_view text, std::vector<std::int32_t>& ids) const {
  const std::string normalized = normalizer_.apply(text);
  bool after_unknown = false;
  const auto emit = [&](std::int32_t id, std::string_view piece) {
    const bool is_unknown = id == unknown_id_;
    if (is_unknown && byte_ids_) {
      for (const char byte : piece) ids.push_back((*byte_ids_)[static_cast<unsigned char>(byte)]);
    } else if (!(is_unknown && after_unknown)) {  // of unknown ones in a row there is one
      ids.push_back(id);
    }
    after_unknown = is_unknown;
  };
  std::visit([&](const auto& model) { model.encode(normalized, unknown_id_, emit); }, model_);
}

}  // namespace monomorph::data
