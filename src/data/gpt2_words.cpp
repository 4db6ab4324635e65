#include <monomorph/data/gpt2_words.hpp>
#include <monomorph/data/utf8.hpp>

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace monomorph::data {
namespace {

struct Range {
  char32_t first, last;
  CharacterClass character_class;
};

constexpr auto letter = CharacterClass::letter;
constexpr auto number = CharacterClass::number;

// What Unicode 15.1 and 16 added after the tables of utf8proc 2.8 (Debian 12). Ids must not depend on the system's
// version, so these are asked first; characters do not change their class once they are assigned.
constexpr std::array<Range, 29> added_since_unicode_15{{
    {0x1C89, 0x1C8A, letter},   {0xA7CB, 0xA7CD, letter},   {0xA7DA, 0xA7DC, letter},   {0x105C0, 0x105F3, letter},
    {0x10D40, 0x10D49, number}, {0x10D4A, 0x10D65, letter}, {0x10D6F, 0x10D85, letter}, {0x10EC2, 0x10EC4, letter},
    {0x11380, 0x11389, letter}, {0x1138B, 0x1138B, letter}, {0x1138E, 0x1138E, letter}, {0x11390, 0x113B5, letter},
    {0x113B7, 0x113B7, letter}, {0x113D1, 0x113D1, letter}, {0x113D3, 0x113D3, letter}, {0x116D0, 0x116E3, number},
    {0x11BC0, 0x11BE0, letter}, {0x11BF0, 0x11BF9, number}, {0x13460, 0x143FA, letter}, {0x16100, 0x1611D, letter},
    {0x16130, 0x16139, number}, {0x16D40, 0x16D6C, letter}, {0x16D70, 0x16D79, number}, {0x18CFF, 0x18CFF, letter},
    {0x1CCF0, 0x1CCF9, number}, {0x1E5D0, 0x1E5ED, letter}, {0x1E5F0, 0x1E5F0, letter}, {0x1E5F1, 0x1E5FA, number},
    {0x2EBF0, 0x2EE5D, letter},
}};

CharacterClass look_up(char32_t code_point) {
  const auto range = std::lower_bound(added_since_unicode_15.begin(), added_since_unicode_15.end(), code_point,
                                      [](const Range& entry, char32_t value) { return entry.last < value; });
  if (range != added_since_unicode_15.end() && code_point >= range->first) return range->character_class;
  // The controls that are white space are in no category of their own.
  if ((code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x85) return CharacterClass::space;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return letter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return number;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return CharacterClass::space;
    default:
      return CharacterClass::other;
  }
}

const std::array<CharacterClass, 128> ascii_classes = [] {
  std::array<CharacterClass, 128> classes{};
  for (char32_t code_point = 0; code_point < classes.size(); ++code_point) classes[code_point] = look_up(code_point);
  return classes;
}();

struct Classified {
  CharacterClass character_class;
  std::size_t n_bytes;
};

Classified classify_first(std::string_view text) {
  const auto byte = static_cast<unsigned char>(text[0]);
  if (byte < 0x80) return {ascii_classes[byte], 1};
  const Utf8Character character = first_character(text);
  return {look_up(character.code_point), character.n_bytes};
}

std::size_t contraction_length(std::string_view text) {
  if (text.size() < 2 || text[0] != '\'') return 0;
  switch (text[1]) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return 2;
    case 'r':
    case 'v':
      return text.size() > 2 && text[2] == 'e' ? 3 : 0;
    case 'l':
      return text.size() > 2 && text[2] == 'l' ? 3 : 0;
    default:
      return 0;
  }
}

/// The end of the run of `wanted` characters that starts at `begin`.
std::size_t run_end(std::string_view text, std::size_t begin, CharacterClass wanted) {
  while (begin < text.size()) {
    const Classified next = classify_first(text.substr(begin));
    if (next.character_class != wanted) break;
    begin += next.n_bytes;
  }
  return begin;
}

/// A run of white space: all of it at the end of the text, else all but its last character (which the next word takes
/// if it is a space), but at least that one.
std::size_t white_space_length(std::string_view text) {
  std::size_t end = 0;
  std::size_t last_begin = 0;
  while (end < text.size()) {
    const Classified next = classify_first(text.substr(end));
    if (next.character_class != CharacterClass::space) break;
    last_begin = end;
    end += next.n_bytes;
  }
  return end == text.size() || last_begin == 0 ? end : last_begin;
}

}  // namespace

CharacterClass character_class(char32_t code_point) {
  return code_point < 128 ? ascii_classes[code_point] : look_up(code_point);
}

std::size_t gpt2_word_length(std::string_view text) {
  if (const std::size_t length = contraction_length(text)) return length;
  const Classified first = classify_first(text);
  if (first.character_class != CharacterClass::space) return run_end(text, first.n_bytes, first.character_class);
  if (text[0] == ' ' && text.size() > 1) {
    const Classified second = classify_first(text.substr(1));
    if (second.character_class != CharacterClass::space) {
      return run_end(text, 1 + second.n_bytes, second.character_class);
    }
  }
  return white_space_length(text);
}

}  // namespace monomorph::data
