#pragma once
#include <cstdint>
#include <span>

namespace monomorph::data {

/// What the rules for grapheme clusters tell apart.
enum class GraphemeClass : std::uint8_t {
  other,
  control,
  carriage_return,
  line_feed,
  prepend,
  extend,           ///< of all marks those that are also Indic_Conjunct_Break=Extend
  extend_linker,    ///< Indic_Conjunct_Break=Linker
  extend_unlinked,  ///< neither
  spacing_mark,
  joiner,  ///< U+200D
  regional_indicator,
  pictographic,
  indic_consonant,  ///< Indic_Conjunct_Break=Consonant
  hangul_l,
  hangul_v,
  hangul_t,
  hangul_lv,
  hangul_lvt,
};

struct GraphemeRange {
  std::uint32_t first, last;
  GraphemeClass grapheme_class;
};

/// All ranges of Unicode 17 that are not `other`, ascending, without the Hangul syllables.
std::span<const GraphemeRange> grapheme_ranges();

}  // namespace monomorph::data
