#include "data/tokenizer/sentence_piece/sentence_piece_normalizer.hpp"

#include <monomorph/data/text/utf8.hpp>

namespace monomorph::data {
namespace {

PieceTrie user_defined_of(const SentencePieceFile& file) {
  std::vector<PieceTrie::Entry> entries;
  for (const SentencePieceFile::Piece& piece : file.pieces) {
    if (piece.type == SentencePieceFile::Type::user_defined) entries.emplace_back(piece.text, 0);
  }
  return PieceTrie(std::move(entries));
}

}  // namespace

SentencePieceNormalizer::SentencePieceNormalizer(const SentencePieceFile& file)
    : user_defined_(user_defined_of(file)),
      space_(file.marks_spaces ? "\xE2\x96\x81" : " "),
      adds_space_(file.adds_space),
      spaces_end_words_(file.spaces_end_words),
      drops_extra_spaces_(file.drops_extra_spaces) {
  if (!file.character_map.empty()) map_.emplace(file.character_map);
}

SentencePieceNormalizer::Step SentencePieceNormalizer::step(std::string_view text) const {
  if (const std::size_t length = length_of_user_defined(text); length > 0) return {length, text.substr(0, length)};
  if (map_) {
    if (const auto match = map_->longest_match(text)) return {match->length, match->replacement};
  }
  const Utf8Character character = first_character(text);
  if (!character.valid) return {1, replacement_character};  // an entry of the map ended within a character
  return {character.n_bytes, text.substr(0, character.n_bytes)};
}

void SentencePieceNormalizer::append(std::string_view text, std::string& output) const {
  for (std::size_t at = text.find(' '); at != std::string_view::npos; at = text.find(' ')) {
    output.append(text.substr(0, at)).append(space_);
    text.remove_prefix(at + 1);
  }
  output += text;
}

std::string SentencePieceNormalizer::apply(std::string_view text) const {
  std::string output;
  while (drops_extra_spaces_ && !text.empty()) {
    const Step first = step(text);
    if (first.output != " ") break;
    text.remove_prefix(first.n_bytes);
  }
  if (text.empty()) return output;
  if (adds_space_ && !spaces_end_words_) output += space_;
  bool after_space = drops_extra_spaces_;
  while (!text.empty()) {
    auto [n_bytes, made] = step(text);
    text.remove_prefix(n_bytes);
    while (after_space && made.starts_with(' ')) made.remove_prefix(1);
    if (made.empty()) continue;
    after_space = drops_extra_spaces_ && made.ends_with(' ');
    append(made, output);
  }
  while (drops_extra_spaces_ && output.ends_with(space_)) output.resize(output.size() - space_.size());
  if (adds_space_ && spaces_end_words_) output += space_;
  return output;
}

}  // namespace monomorph::data
