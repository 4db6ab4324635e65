#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <vector>

namespace monomorph {
namespace {

/// Three significant digits of value / base^n with the n-th unit.
std::string with_unit(double value, double base, const std::vector<std::string_view>& units) {
  std::size_t unit = 0;
  while (unit + 1 < units.size() && value >= 999.5) {
    value /= base;
    ++unit;
  }
  const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return fmt::format("{:.{}f}{}", value, decimals, units[unit]);
}

/// The number with commas between the thousands of its whole part.
std::string with_commas(std::string number) {
  const std::size_t first = number.starts_with('-') ? 1 : 0;
  for (std::size_t at = std::min(number.find('.'), number.size()); at > first + 3;) number.insert(at -= 3, 1, ',');
  return number;
}

}  // namespace

std::string format_count(double count) { return with_unit(count, 1e3, {"", "k", "M", "G", "T"}); }

std::string format_bytes(std::int64_t bytes) {
  return with_unit(static_cast<double>(bytes), 1024.0, {" B", " KiB", " MiB", " GiB", " TiB"});
}

std::string format_duration(double seconds) {
  constexpr double longest = 1e9;  // 30 years: an estimate of a first, slow step
  if (!std::isfinite(seconds)) return "?";
  const auto whole = static_cast<std::int64_t>(std::clamp(std::round(seconds), 0.0, longest));
  const std::int64_t minutes = whole / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0) return fmt::format("{}d {:02}h", days, hours % 24);
  if (hours > 0) return fmt::format("{}h {:02}m", hours, minutes % 60);
  if (minutes > 0) return fmt::format("{}m {:02}s", minutes, whole % 60);
  return fmt::format("{}s", whole);
}

std::string format_number(std::int64_t number) { return with_commas(std::to_string(number)); }
std::string format_number(std::uint64_t number) { return with_commas(std::to_string(number)); }

std::string format_number(double number) {
  constexpr double least_in_full = 1e-9, most_in_full = 1e15;  // more zeros are not counted at a glance
  const double size = std::abs(number);
  if (size != 0 && !(size >= least_in_full && size < most_in_full)) return fmt::format("{}", number);
  std::array<char, 64> digits;
  const auto [end, failure] =
      std::to_chars(digits.data(), digits.data() + digits.size(), number, std::chars_format::fixed);
  return with_commas(std::string(digits.data(), end));
}

}  // namespace monomorph
