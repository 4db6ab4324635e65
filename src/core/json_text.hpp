#pragma once
#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph {

/// `text` as a JSON string with its quotes; a byte that is not UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

/// The shortest number that reads back to the same bits. JSON has no NaN and no infinity: they become the strings
/// "NaN", "Infinity" and "-Infinity".
std::string json_number(double value);

bool is_utf8(std::string_view text);

/// Both counted from 1; a column is a byte.
struct PlaceInText {
  std::size_t line, column;
};
/// The first NUL byte. JSON has none anywhere, and nlohmann/json takes one for the end of the text and ignores what
/// follows. So every text from outside is searched before it is parsed.
std::optional<PlaceInText> find_nul(std::string_view text);

/// Where arrays and objects of a JSON text lie in each other more than `most` deep, which may be deeper than the stack
/// of whoever goes through them by recursion.
std::optional<PlaceInText> find_too_deep(std::string_view text, int most);

/// Levels that no file of use has. Copies and texts of nlohmann/json are made by recursion.
inline constexpr int most_json_levels = 256;
/// The value of a JSON text. It is_discarded() if the text is no JSON, has a NUL byte, a number beyond fp64, or more
/// than most_json_levels.
nlohmann::json parsed_json(std::string_view text);
/// The same, with the members of objects in their order.
nlohmann::ordered_json parsed_ordered_json(std::string_view text);

/// Why a text is discarded, with the place, which is a column alone in a text of one line: "syntax error while parsing
/// value - unexpected ']'; … (line 3, column 5)".
std::string json_mistake(std::string_view text);
/// What an exception of nlohmann/json says, without its name and its place, in one line that is safe for terminals.
std::string json_reason(std::string_view what);

}  // namespace monomorph
