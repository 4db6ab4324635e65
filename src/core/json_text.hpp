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
/// The first NUL byte. JSON has none anywhere, and nlohmann/json takes one for the end of the text: it would ignore
/// what follows, so every text from a file is asked before it is parsed.
std::optional<PlaceInText> find_nul(std::string_view text);

/// The value of a JSON text; is_discarded() if it is none, or has a NUL byte.
nlohmann::json parsed_json(std::string_view text);

}  // namespace monomorph
