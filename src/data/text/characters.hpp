#pragma once
#include <monomorph/data/text/utf8.hpp>

#include <string>
#include <string_view>

namespace monomorph::data {

/// Visits the characters of valid UTF-8 as code point and bytes.
template <class Visit> void for_each_character(std::string_view text, Visit visit) {
  while (!text.empty()) {
    const Utf8Character character = first_character(text);
    visit(character.code_point, text.substr(0, character.n_bytes));
    text.remove_prefix(character.n_bytes);
  }
}

void append_utf8(char32_t code_point, std::string& text);

/// With `content` in the place of each `what`, from the left; of an empty `what` there is none.
std::string replace_all(std::string_view text, std::string_view what, std::string_view content);

/// Whether `text` is one character.
inline bool is_one_character(std::string_view text) {
  return !text.empty() && first_character(text).n_bytes == text.size() && first_character(text).valid;
}

}  // namespace monomorph::data
