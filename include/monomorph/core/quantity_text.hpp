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

/// "1,000,000", "0.000001", "1e-12": exact, as people write it.
std::string format_number(std::int64_t number);
std::string format_number(std::uint64_t number);
std::string format_number(double number);

/// "from 0.000001 to 1,000,000".
template <class Number> std::string format_bounds(Number least, Number most) {
  return "from " + format_number(least) + " to " + format_number(most);
}

}  // namespace monomorph
