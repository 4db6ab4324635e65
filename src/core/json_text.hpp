#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace monomorph {

/// `text` as a JSON string with its quotes; a byte that is not UTF-8 becomes U+FFFD.
std::string json_string(std::string_view text);

/// The shortest number that reads back to the same bits. JSON has no NaN and no infinity: they become the strings
/// "NaN", "Infinity" and "-Infinity".
std::string json_number(double value);

bool is_utf8(std::string_view text);

}  // namespace monomorph
