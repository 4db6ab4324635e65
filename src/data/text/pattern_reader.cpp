#include "data/text/pattern_reader.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>

#include <cctype>

namespace monomorph::data {

char32_t PatternReader::take() {
  if (at_end()) throw_malformed("it ends too early");
  const Utf8Character character = first_character(pattern_.substr(position_));
  skip(character.n_bytes);
  return character.code_point;
}

std::string_view PatternReader::take_until(char end) {
  const std::size_t found = pattern_.find(end, position_);
  if (found == std::string_view::npos) throw_malformed(fmt::format("a {} is missing", end));
  const std::string_view taken = pattern_.substr(position_, found - position_);
  position_ = found + 1;
  return taken;
}

std::optional<std::size_t> PatternReader::take_number() {
  constexpr std::size_t most = 100'000;  // as the package's engine allows
  if (!std::isdigit(static_cast<unsigned char>(peek()))) return std::nullopt;
  std::size_t number = 0;
  while (std::isdigit(static_cast<unsigned char>(peek()))) {
    number = number * 10 + static_cast<std::size_t>(peek() - '0');
    if (number > most) throw_malformed("a number is too large");
    skip(1);
  }
  return number;
}

char32_t PatternReader::take_hexadecimal(std::size_t least_digits, std::size_t most_digits) {
  char32_t value = 0;
  std::size_t n_digits = 0;
  for (; n_digits < most_digits && std::isxdigit(static_cast<unsigned char>(peek())); ++n_digits) {
    const char digit = peek();
    value = value * 16 + static_cast<char32_t>(digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
    skip(1);
  }
  const bool is_surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (n_digits < least_digits || value > 0x10FFFF || is_surrogate) throw_malformed("an escape names no character");
  return value;
}

std::optional<char32_t> PatternReader::take_character_escape(char32_t letter) {
  switch (letter) {
    case 't':
      return U'\t';
    case 'n':
      return U'\n';
    case 'r':
      return U'\r';
    case 'f':
      return U'\f';
    case 'v':
      return U'\v';
    case 'a':
      return U'\a';
    case 'e':
      return char32_t{0x1B};
    case 'u':
      return take_hexadecimal(4, 4);
    case 'x': {
      if (!skip_if("{")) return take_hexadecimal(1, 2);
      const char32_t value = take_hexadecimal(1, 8);
      if (!skip_if("}")) throw_malformed("a } is missing");
      return value;
    }
    default:
      break;
  }
  const bool is_name = letter < 0x80 && std::isalnum(static_cast<int>(letter));
  return is_name ? std::nullopt : std::optional(letter);
}

void PatternReader::throw_malformed(const std::string& what) const {
  throw UsageError("TOK-10", fmt::format("{} is no regular expression: at byte {}, {}; mend it",
                                         in_quotes(std::string(pattern_)), position_, what));
}

void PatternReader::throw_unsupported(const std::string& what) const {
  throw UsageError("TOK-02", fmt::format("the regular expression {} uses {}, which is not supported; write it without",
                                         in_quotes(std::string(pattern_)), what));
}

}  // namespace monomorph::data
