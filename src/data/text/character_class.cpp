#include <monomorph/data/text/character_class.hpp>

#include "data/text/text_scanner.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstdlib>

namespace monomorph::data {
namespace {

struct Range {
  char32_t first, last;
  CharacterClass character_class;
};

constexpr auto mark = CharacterClass::mark;
constexpr auto uppercase = CharacterClass::uppercase;
constexpr auto lowercase = CharacterClass::lowercase;
constexpr auto caseless = CharacterClass::caseless;
constexpr auto number = CharacterClass::number;

// What Unicode 15.1 and 16 added after the tables of utf8proc 2.8 (Debian 12). Ids must not depend on the system's
// version, so these are asked first; characters do not change their class once they are assigned.
constexpr std::array<Range, 48> added_since_unicode_15{{
    {0x897, 0x897, mark},         {0x1C89, 0x1C89, uppercase},  {0x1C8A, 0x1C8A, lowercase},
    {0xA7CB, 0xA7CC, uppercase},  {0xA7CD, 0xA7CD, lowercase},  {0xA7DA, 0xA7DA, uppercase},
    {0xA7DB, 0xA7DB, lowercase},  {0xA7DC, 0xA7DC, uppercase},  {0x105C0, 0x105F3, caseless},
    {0x10D40, 0x10D49, number},   {0x10D4A, 0x10D4F, caseless}, {0x10D50, 0x10D65, uppercase},
    {0x10D69, 0x10D6D, mark},     {0x10D6F, 0x10D6F, caseless}, {0x10D70, 0x10D85, lowercase},
    {0x10EC2, 0x10EC4, caseless}, {0x10EFC, 0x10EFC, mark},     {0x11380, 0x11389, caseless},
    {0x1138B, 0x1138B, caseless}, {0x1138E, 0x1138E, caseless}, {0x11390, 0x113B5, caseless},
    {0x113B7, 0x113B7, caseless}, {0x113B8, 0x113C0, mark},     {0x113C2, 0x113C2, mark},
    {0x113C5, 0x113C5, mark},     {0x113C7, 0x113CA, mark},     {0x113CC, 0x113D0, mark},
    {0x113D1, 0x113D1, caseless}, {0x113D2, 0x113D2, mark},     {0x113D3, 0x113D3, caseless},
    {0x113E1, 0x113E2, mark},     {0x116D0, 0x116E3, number},   {0x11BC0, 0x11BE0, caseless},
    {0x11BF0, 0x11BF9, number},   {0x11F5A, 0x11F5A, mark},     {0x13460, 0x143FA, caseless},
    {0x16100, 0x1611D, caseless}, {0x1611E, 0x1612F, mark},     {0x16130, 0x16139, number},
    {0x16D40, 0x16D6C, caseless}, {0x16D70, 0x16D79, number},   {0x18CFF, 0x18CFF, caseless},
    {0x1CCF0, 0x1CCF9, number},   {0x1E5D0, 0x1E5ED, caseless}, {0x1E5EE, 0x1E5EF, mark},
    {0x1E5F0, 0x1E5F0, caseless}, {0x1E5F1, 0x1E5FA, number},   {0x2EBF0, 0x2EE5D, caseless},
}};

CharacterClass look_up(char32_t code_point) {
  const auto range = std::lower_bound(added_since_unicode_15.begin(), added_since_unicode_15.end(), code_point,
                                      [](const Range& entry, char32_t value) { return entry.last < value; });
  if (range != added_since_unicode_15.end() && code_point >= range->first) return range->character_class;
  if (code_point == '\r' || code_point == '\n') return CharacterClass::newline;
  // The controls that are white space are in no category of their own.
  if ((code_point >= 0x09 && code_point <= 0x0D) || code_point == 0x85) return CharacterClass::space;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LT:
      return uppercase;
    case UTF8PROC_CATEGORY_LL:
      return lowercase;
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return caseless;
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return mark;
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

std::array<CharacterSet, 256> look_up_block(char32_t begin) {
  // Beyond the third plane only the selectors of the fourteenth are not `other`; these planes are most of the work.
  const bool all_other = begin >= 0x40000 && begin >> 9 != 0xE0000 >> 9;
  std::array<CharacterSet, 256> block;
  block.fill(set_of(CharacterClass::other));
  for (char32_t i = 0; i < 256 && !all_other; ++i) block[i] = set_of(look_up(begin + i));
  return block;
}

}  // namespace

CharacterClass character_class(char32_t code_point) {
  return static_cast<CharacterClass>(CharacterTable::instance()[code_point]);
}

CharacterTable::CharacterTable() {
  std::size_t n_blocks = 0;
  for (std::size_t i = 0; i < blocks_of_.size(); ++i) {
    const std::array<CharacterSet, 256> block = look_up_block(static_cast<char32_t>(256 * i));
    std::size_t known = 0;
    // Blocks that are alike are mostly neighbours.
    while (known < n_blocks && blocks_[n_blocks - 1 - known] != block) ++known;
    if (known == n_blocks) {
      if (n_blocks == most_blocks) std::abort();
      blocks_[n_blocks++] = block;
      known = 0;
    }
    blocks_of_[i] = static_cast<std::uint8_t>(n_blocks - 1 - known);
  }
}

const CharacterTable& CharacterTable::instance() {
  static const CharacterTable table;
  return table;
}

}  // namespace monomorph::data
