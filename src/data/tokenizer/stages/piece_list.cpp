#include "data/tokenizer/stages/piece_list.hpp"

#include <algorithm>

namespace monomorph::data {
namespace {

using pre_tokenizers::Behavior;

/// Joins neighbouring parts, seen from left to right: `joins(is_delimiter, previous_is_delimiter)`.
template <class Joins> void join(const std::vector<PiecePart>& parts, Joins joins, std::vector<TextSpan>& joined) {
  bool previous = false;
  const std::size_t n_before = joined.size();
  for (const PiecePart& part : parts) {
    if (joined.size() > n_before && joins(part.is_delimiter, previous)) {
      joined.back() = {std::min(joined.back().begin, part.begin), std::max(joined.back().end, part.end)};
    } else {
      joined.push_back({part.begin, part.end});
    }
    previous = part.is_delimiter;
  }
}

constexpr bool is_lone_delimiter(bool is_delimiter, bool previous) { return is_delimiter && !previous; }

}  // namespace

void apply_behavior(Behavior behavior, std::vector<PiecePart>& parts, std::vector<TextSpan>& pieces) {
  const std::size_t n_before = pieces.size();
  switch (behavior) {
    case Behavior::removed:
      for (const PiecePart& part : parts) {
        if (!part.is_delimiter) pieces.push_back({part.begin, part.end});
      }
      break;
    case Behavior::isolated:
      for (const PiecePart& part : parts) pieces.push_back({part.begin, part.end});
      break;
    case Behavior::contiguous:
      join(
          parts, [](bool is_delimiter, bool previous) { return is_delimiter == previous; }, pieces);
      break;
    case Behavior::merged_with_previous:
      join(parts, is_lone_delimiter, pieces);
      break;
    case Behavior::merged_with_next:
      std::reverse(parts.begin(), parts.end());
      join(parts, is_lone_delimiter, pieces);
      std::reverse(pieces.begin() + static_cast<std::ptrdiff_t>(n_before), pieces.end());
      break;
  }
  const auto is_empty = [](TextSpan piece) { return piece.begin == piece.end; };
  pieces.erase(std::remove_if(pieces.begin() + static_cast<std::ptrdiff_t>(n_before), pieces.end(), is_empty),
               pieces.end());
}

}  // namespace monomorph::data
