#pragma once
#include "data/tokenizer/stages/normalizer_chain.hpp"

#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// A text and the pieces that it has been cut into; what lies between them is dropped.
struct PieceList {
  explicit PieceList(TextInWork work) : text(std::move(work.text)), from_start(work.from_start) {
    if (!text.empty()) pieces.push_back({0, text.size()});
  }

  std::string_view piece(TextSpan span) const {
    return std::string_view(text).substr(span.begin, span.end - span.begin);
  }

  std::string text;
  std::vector<TextSpan> pieces;
  bool from_start;  ///< the first piece begins with the first character of the text that the user gave
};

/// A part of a piece: a delimiter or what lies between delimiters.
struct PiecePart {
  std::size_t begin, end;
  bool is_delimiter;
};

/// Makes pieces of the parts of one piece, which lie side by side.
void apply_behavior(pre_tokenizers::Behavior behavior, std::vector<PiecePart>& parts, std::vector<TextSpan>& pieces);

/// Cuts all pieces: `find_parts(piece, add)` calls add(begin, end, is_delimiter) for the delimiters of a piece, or for
/// all of its parts.
template <class FindParts> void cut(PieceList& list, pre_tokenizers::Behavior behavior, FindParts find_parts) {
  std::vector<TextSpan> pieces;
  std::vector<PiecePart> parts;
  for (const TextSpan piece : list.pieces) {
    parts.clear();
    std::size_t covered = 0;
    const auto add = [&](std::size_t begin, std::size_t end, bool is_delimiter) {
      if (begin > covered) parts.push_back({piece.begin + covered, piece.begin + begin, !is_delimiter});
      parts.push_back({piece.begin + begin, piece.begin + end, is_delimiter});
      covered = end;
    };
    const bool others_are_delimiters = find_parts(list.piece(piece), add);
    if (piece.begin + covered < piece.end) parts.push_back({piece.begin + covered, piece.end, others_are_delimiters});
    apply_behavior(behavior, parts, pieces);
  }
  const bool begins_as_before =
      !pieces.empty() && !list.pieces.empty() && pieces.front().begin == list.pieces.front().begin;
  list.from_start = list.from_start && begins_as_before;
  list.pieces = std::move(pieces);
}

}  // namespace monomorph::data
