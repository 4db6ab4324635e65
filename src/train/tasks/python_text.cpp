#include "train/tasks/python_text.hpp"

#include "data/text/characters.hpp"
#include "data/text/unicode_sets.hpp"

#include <algorithm>

namespace monomorph::train {
namespace {

bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// The one whose lower case this is.
char32_t upper_case(char32_t letter) {
  if (letter < 0x80) return letter >= U'a' && letter <= U'z' ? letter - U'a' + U'A' : letter;
  constexpr char32_t end_of_letters_with_case = 0x1F000;
  for (char32_t large = 0x80; large < end_of_letters_with_case; ++large)
    if (large != letter && data::unicode::lower_case(large) == letter) return large;
  return letter;
}

}  // namespace

std::string_view without_spaces_behind(std::string_view text) {
  std::size_t end = 0, at = 0;
  data::for_each_character(text, [&](char32_t character, std::string_view bytes) {
    at += bytes.size();
    if (!is_python_space(character)) end = at;
  });
  return text.substr(0, end);
}

std::string_view without_spaces_around(std::string_view text) {
  text = without_spaces_behind(text);
  while (!text.empty()) {
    const data::Utf8Character first = data::first_character(text);
    if (!is_python_space(first.code_point)) break;
    text.remove_prefix(first.n_bytes);
  }
  return text;
}

std::string capitalized(std::string_view text) {
  std::string result;
  data::for_each_character(text, [&](char32_t character, std::string_view) {
    data::append_utf8(result.empty() ? upper_case(character) : data::unicode::lower_case(character), result);
  });
  return result;
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result;
  for (std::size_t found = 0; (found = text.find(from)) != std::string_view::npos;) {
    result.append(text.substr(0, found)).append(to);
    text.remove_prefix(found + from.size());
  }
  return result.append(text);
}

std::size_t n_characters(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) != 0x80u; }));
}

}  // namespace monomorph::train
