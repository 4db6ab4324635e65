#include "data/tokenizer/sentence_piece/sentence_piece_bpe.hpp"

#include <monomorph/data/text/utf8.hpp>

namespace monomorph::data {
namespace {

/// Of a text that is not empty: calls visit(pair, end of its first character) for its characters two by two, until that
/// returns false.
template <class Visit> void for_each_pair(std::string_view text, Visit visit) {
  Utf8Character character = first_character(text);
  for (std::size_t end = character.n_bytes; end < text.size(); end += character.n_bytes) {
    const std::uint64_t left = character.code_point;
    character = first_character(text.substr(end));
    if (!visit(left << 32 | character.code_point, end)) return;
  }
}

}  // namespace

SentencePieceBpe::SentencePieceBpe(const SentencePieceFile& file, const SentencePieceNormalizer& normalizer)
    : normalizer_(normalizer), trie_(file.trie_of_text()) {
  for (const SentencePieceFile::Piece& piece : file.pieces) {
    scores_.push_back(piece.score);
    if (!piece.is_found_in_text()) continue;
    for_each_pair(piece.text, [&](std::uint64_t pair, std::size_t) { return neighbours_.insert(pair), true; });
  }
}

std::size_t SentencePieceBpe::part_length(std::string_view text) const {
  std::size_t length = text.size();
  for_each_pair(text, [&](std::uint64_t pair, std::size_t end) {
    const bool goes_on = neighbours_.contains(pair);
    if (!goes_on) length = end;
    return goes_on;
  });
  return length;
}

void SentencePieceBpe::Merging::split() {
  symbols_.clear();
  for (std::size_t begin = 0; begin < text_.size();) {
    const std::string_view rest = text_.substr(begin);
    const std::size_t user_defined = model_.normalizer_.length_of_user_defined(rest);
    const std::size_t length = user_defined > 0 ? user_defined : first_character(rest).n_bytes;
    const auto index = static_cast<std::uint32_t>(symbols_.size());
    symbols_.push_back({index == 0 ? none : index - 1, begin + length < text_.size() ? index + 1 : none,
                        static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(length), user_defined > 0});
    begin += length;
  }
}

void SentencePieceBpe::Merging::offer(std::uint32_t left, std::uint32_t right) {
  if (left == none || right == none || symbols_[left].is_fixed || symbols_[right].is_fixed) return;
  const std::uint32_t length = symbols_[left].length + symbols_[right].length;
  const std::int32_t id = model_.trie_.find(text_.substr(symbols_[left].begin, length));
  if (id >= 0) pairs_.push({model_.scores_[static_cast<std::size_t>(id)], left, right, length});
}

void SentencePieceBpe::Merging::run(std::string_view text) {
  text_ = text;
  split();
  for (std::uint32_t index = 1; index < symbols_.size(); ++index) offer(index - 1, index);
  while (!pairs_.empty()) {
    const Pair best = pairs_.top();
    pairs_.pop();
    Symbol& left = symbols_[best.left];
    Symbol& right = symbols_[best.right];
    const bool is_outdated = left.length == 0 || right.length == 0 || left.length + right.length != best.length;
    if (is_outdated) continue;
    left.length = best.length;
    left.next = right.next;
    if (right.next != none) symbols_[right.next].previous = best.left;
    right.length = 0;
    offer(left.previous, best.left);
    offer(best.left, left.next);
  }
}

}  // namespace monomorph::data
