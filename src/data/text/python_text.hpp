#pragma once
#include "data/text/characters.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data::python {

// Texts as Python's str has them: counted and cut by code points, kept as UTF-8.

/// What str.isspace() and str.strip() take for white space.
bool is_space(char32_t code_point);
std::string_view left_stripped(std::string_view text);
std::string_view right_stripped(std::string_view text);
std::string_view stripped(std::string_view text);
/// Without the given characters at its ends.
std::string_view stripped_of(std::string_view text, std::string_view characters, bool left, bool right);

/// In code points.
std::size_t length_of(std::string_view text);
/// Where in bytes a code point begins.
std::size_t offset_of(std::string_view text, std::size_t index);
std::vector<std::string_view> characters_of(std::string_view text);

/// Upper case by the lower cases of Unicode's single characters, and SS for a sharp s.
std::string upper(std::string_view text);
std::string lower(std::string_view text);
/// The first character in upper case, the others in lower case.
std::string capitalized(std::string_view text);
/// Each run of letters so, as str.title() does.
std::string titled(std::string_view text);
bool is_upper_letter(char32_t code_point);
bool is_lower_letter(char32_t code_point);
bool is_letter(char32_t code_point);
bool is_decimal(char32_t code_point);

/// \r\n and \r as \n.
std::string with_unix_line_ends(std::string_view text);
/// As str.splitlines().
std::vector<std::string_view> lines_of(std::string_view text, bool keeps_ends = false);

/// As Python writes a text in code.
std::string repr_of_text(std::string_view text);

}  // namespace monomorph::data::python
