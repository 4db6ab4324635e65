#pragma once
#include <cstddef>
#include <string_view>

namespace monomorph::data {

/// How GPT-2's pre-tokeniser sees a character: `\p{L}`, `\p{N}`, `\s` or none of these, by Unicode 16.
enum class CharacterClass : unsigned char { other, letter, number, space };

CharacterClass character_class(char32_t code_point);

/// The length of the word that GPT-2's pre-tokeniser cuts from the start of `text`, which is not empty and valid UTF-8.
/// The pattern is `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`: every text is cut into
/// words without gaps.
std::size_t gpt2_word_length(std::string_view text);

/// What follows the text can change a word only if it ends within this many bytes of the text's end.
inline constexpr std::size_t gpt2_lookahead_bytes = 8;

}  // namespace monomorph::data
