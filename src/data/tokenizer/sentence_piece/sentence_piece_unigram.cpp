#include "data/tokenizer/sentence_piece/sentence_piece_unigram.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <algorithm>
#include <limits>

namespace monomorph::data {
namespace {

using Type = SentencePieceFile::Type;

constexpr float unknown_penalty = 10;

}  // namespace

SentencePieceUnigram::SentencePieceUnigram(const SentencePieceFile& file)
    : trie_(file.trie_of_text()), highest_(std::numeric_limits<float>::min()) {
  float lowest = std::numeric_limits<float>::max();
  for (const SentencePieceFile::Piece& piece : file.pieces) {
    scores_.push_back(piece.score);
    is_user_defined_.push_back(piece.type == Type::user_defined);
    if (piece.type != Type::normal) continue;
    lowest = std::min(lowest, piece.score);
    highest_ = std::max(highest_, piece.score);
  }
  unknown_score_ = lowest - unknown_penalty;
}

std::size_t SentencePieceUnigram::longest_step() const {
  constexpr std::size_t longest_character = 4;
  return std::max(trie_.longest(), longest_character);
}

double SentencePieceUnigram::score(PieceTrie::Match match) const {
  const auto id = static_cast<std::size_t>(match.value);
  return is_user_defined_[id] ? static_cast<double>(static_cast<float>(match.length) * highest_) - 0.1
                              : static_cast<double>(scores_[id]);
}

std::size_t SentencePieceUnigram::extend(BestPaths<float>& paths, std::string_view text, std::size_t position,
                                         std::int32_t unknown_id) const {
  const float so_far = paths.score(position);
  const std::size_t character = first_character(text.substr(position)).n_bytes;
  bool has_character = false;
  trie_.for_each_prefix(text.substr(position), [&](PieceTrie::Match match) {
    // As in the library, the score that is compared is not rounded, and the best one so far is.
    paths.offer(position, match.length, match.value, score(match) + static_cast<double>(so_far));
    has_character = has_character || match.length == character;
  });
  if (!has_character) paths.offer(position, character, unknown_id, unknown_score_ + so_far);
  return character;
}

}  // namespace monomorph::data
