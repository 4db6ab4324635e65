#pragma once
#include <cstdint>
#include <string>

namespace monomorph {

/// "2d 03h", "1h 02m", "3m 20s" or "12s".
std::string format_duration(double seconds);

/// "87.0 MiB", "1.60 GiB": binary units, three significant digits.
std::string format_bytes(std::int64_t bytes);

/// "950", "12.3k", "4.60M": decimal units, three significant digits.
std::string format_count(double count);

}  // namespace monomorph
