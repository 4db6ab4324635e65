#pragma once
#include <cstdint>

namespace monomorph::data {

/// What the patterns of pre-tokenisers tell apart, by Unicode 16; each is a bit, so that several make a CharacterSet.
enum class CharacterClass : std::uint8_t {
  other = 1,
  mark = 2,       ///< \p{M}
  uppercase = 4,  ///< \p{Lu} and \p{Lt}
  lowercase = 8,  ///< \p{Ll}
  caseless = 16,  ///< \p{Lm} and \p{Lo}
  number = 32,    ///< \p{N}
  space = 64,     ///< \s but for the two below
  newline = 128,  ///< \r and \n
};

CharacterClass character_class(char32_t code_point);

}  // namespace monomorph::data
