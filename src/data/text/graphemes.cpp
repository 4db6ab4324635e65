#include "data/text/grapheme_ranges.hpp"

#include <monomorph/data/text/graphemes.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

using enum GraphemeClass;

GraphemeClass grapheme_class(char32_t code_point) {
  constexpr char32_t first_syllable = 0xAC00, last_syllable = 0xD7A3;
  if (code_point >= 0x20 && code_point < 0x7F) return other;
  if (code_point >= first_syllable && code_point <= last_syllable) {
    return (code_point - first_syllable) % 28 == 0 ? hangul_lv : hangul_lvt;
  }
  const auto ranges = grapheme_ranges();
  const auto range = std::lower_bound(ranges.begin(), ranges.end(), code_point,
                                      [](const GraphemeRange& entry, char32_t value) { return entry.last < value; });
  return range != ranges.end() && code_point >= range->first ? range->grapheme_class : other;
}

bool is_extend(GraphemeClass a) { return a == extend || a == extend_linker || a == extend_unlinked; }

/// Tells whether a cluster goes on with one more character, and keeps what the rules ask of those before it.
class Cluster {
 public:
  explicit Cluster(GraphemeClass first) : last_(first) { note(first); }

  bool accepts(GraphemeClass next) {
    if (!joins(next)) return false;
    note(next);
    last_ = next;
    return true;
  }

 private:
  // The rules in their order, by their numbers in UAX #29.
  bool joins(GraphemeClass next) const {
    const auto is_break = [](GraphemeClass a) { return a == control || a == carriage_return || a == line_feed; };
    if (last_ == carriage_return && next == line_feed) return true;  // GB3
    if (is_break(last_) || is_break(next)) return false;             // GB4, GB5
    if (last_ == hangul_l && (next == hangul_l || next == hangul_v || next == hangul_lv || next == hangul_lvt)) {
      return true;  // GB6
    }
    if ((last_ == hangul_lv || last_ == hangul_v) && (next == hangul_v || next == hangul_t)) return true;  // GB7
    if ((last_ == hangul_lvt || last_ == hangul_t) && next == hangul_t) return true;                       // GB8
    if (is_extend(next) || next == joiner || next == spacing_mark || last_ == prepend) return true;  // GB9, 9a, 9b
    if (next == indic_consonant) return after_consonant_ && linked_;                                 // GB9c
    if (next == pictographic) return pictograph_ == Pictograph::joined;                              // GB11
    return next == regional_indicator && n_regional_indicators_ % 2 == 1;                            // GB12, GB13
  }

  void note(GraphemeClass next) {
    if (next == indic_consonant) {
      after_consonant_ = true;
      linked_ = false;
    } else if (next == extend_linker) {
      linked_ = true;
    } else if (next != extend && next != joiner) {
      after_consonant_ = false;
    }
    if (next == pictographic) {
      pictograph_ = Pictograph::marked;
    } else if (pictograph_ == Pictograph::marked && next == joiner) {
      pictograph_ = Pictograph::joined;
    } else if (pictograph_ != Pictograph::marked || !is_extend(next)) {
      pictograph_ = Pictograph::none;
    }
    n_regional_indicators_ = next == regional_indicator ? n_regional_indicators_ + 1 : 0;
  }

  GraphemeClass last_;
  bool after_consonant_ = false;  ///< only linkers and such marks since a consonant …
  bool linked_ = false;           ///< … and a linker among them
  /// Whether a pictograph was followed by marks only, or by those and a joiner.
  enum class Pictograph { none, marked, joined } pictograph_ = Pictograph::none;
  std::size_t n_regional_indicators_ = 0;
};

}  // namespace

std::size_t first_grapheme(std::string_view text) {
  const Utf8Character first = first_character(text);
  Cluster cluster(grapheme_class(first.code_point));
  std::size_t length = first.n_bytes;
  while (length < text.size()) {
    const Utf8Character next = first_character(text.substr(length));
    if (!cluster.accepts(grapheme_class(next.code_point))) break;
    length += next.n_bytes;
  }
  return length;
}

}  // namespace monomorph::data
