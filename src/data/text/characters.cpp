#include "data/text/characters.hpp"

namespace monomorph::data {

void append_utf8(char32_t code_point, std::string& text) {
  const auto add = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code_point < 0x80) return add(code_point);
  if (code_point < 0x800) {
    add(0xC0 | code_point >> 6);
  } else {
    if (code_point < 0x10000) {
      add(0xE0 | code_point >> 12);
    } else {
      add(0xF0 | code_point >> 18);
      add(0x80 | (code_point >> 12 & 0x3F));
    }
    add(0x80 | (code_point >> 6 & 0x3F));
  }
  add(0x80 | (code_point & 0x3F));
}

std::string replace_all(std::string_view text, std::string_view what, std::string_view content) {
  std::string result;
  std::size_t copied = 0;
  while (!what.empty()) {
    const std::size_t found = text.find(what, copied);
    if (found == std::string_view::npos) break;
    result.append(text.substr(copied, found - copied)).append(content);
    copied = found + what.size();
  }
  return result.append(text.substr(copied));
}

}  // namespace monomorph::data
