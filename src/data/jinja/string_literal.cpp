#include "data/jinja/string_literal.hpp"

#include "data/text/characters.hpp"

#include <charconv>

namespace monomorph::data::jinja {
namespace {

/// A number at the beginning of `text`: exactly or at most so many digits, which are taken away.
std::optional<char32_t> take_code(std::string_view& text, std::size_t most, bool exactly, int base) {
  std::uint32_t code = 0;
  const std::string_view digits = text.substr(0, most);
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), code, base);
  const auto n_digits = static_cast<std::size_t>(end - digits.data());
  if (failure != std::errc{} || (exactly && n_digits != most)) return std::nullopt;
  text.remove_prefix(n_digits);
  return static_cast<char32_t>(code);
}

/// The character of an escape, whose letter is taken away with it; 0 digits: no escape by number.
struct NumberedEscape {
  std::size_t digits;
  bool exactly;
  int base;
};
std::optional<NumberedEscape> numbered_escape(char letter) {
  switch (letter) {
    case 'x':
      return NumberedEscape{2, true, 16};
    case 'u':
      return NumberedEscape{4, true, 16};
    case 'U':
      return NumberedEscape{8, true, 16};
    default:
      return std::nullopt;
  }
}

char named_escape(char letter) {
  constexpr std::string_view letters = "\\'\"abfnrtv", meanings = "\\'\"\a\b\f\n\r\t\v";
  const std::size_t at = letters.find(letter);
  return at == std::string_view::npos ? '\0' : meanings[at];
}

bool append_code(std::optional<char32_t> code, std::string& text) {
  if (!code || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000)) return false;
  append_utf8(*code, text);
  return true;
}

}  // namespace

std::optional<std::string> meaning_of_literal(std::string_view literal) {
  std::string text;
  while (!literal.empty()) {
    if (literal.front() != '\\' || literal.size() < 2) {
      text += literal.front();
      literal.remove_prefix(1);
      continue;
    }
    const char letter = literal[1];
    if (letter >= '0' && letter <= '7') {
      literal.remove_prefix(1);
      if (!append_code(take_code(literal, 3, false, 8), text)) return std::nullopt;
      continue;
    }
    literal.remove_prefix(2);
    if (const auto numbered = numbered_escape(letter)) {
      if (!append_code(take_code(literal, numbered->digits, numbered->exactly, numbered->base), text))
        return std::nullopt;
    } else if (const char meaning = named_escape(letter); meaning != '\0') {
      text += meaning;
    } else if (letter == 'N') {
      return std::nullopt;  // names of characters are not kept here
    } else if (letter != '\n') {
      text.append("\\").append(1, letter);
    }
  }
  return text;
}

}  // namespace monomorph::data::jinja
