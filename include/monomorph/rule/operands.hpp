#pragma once
#include <cstdint>
#include <limits>

/// Rules compare template arguments, which cannot be floating-point numbers in clang 14, so that real fields are given
/// in whole millionths.
namespace monomorph::rule {

/// No count of a model is larger, so that products of three of them fit 64 bits.
inline constexpr std::int64_t largest_count = std::int64_t{1} << 24;
constexpr bool is_count(std::int64_t n) { return 1 <= n && n <= largest_count; }

inline constexpr std::int64_t million = 1'000'000;
inline constexpr std::int64_t not_a_number = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t beyond_millionths = std::numeric_limits<std::int64_t>::max();

/// x rounded down, so that what is below a bound stays below it.
constexpr std::int64_t millionths_down(double x) {
  if (x != x) return not_a_number;
  if (x >= 9e12) return beyond_millionths;
  if (x <= -9e12) return -beyond_millionths;
  const auto toward_zero = static_cast<std::int64_t>(x * 1e6);
  return toward_zero - (static_cast<double>(toward_zero) > x * 1e6 ? 1 : 0);
}
/// x rounded up, so that what is above zero stays above it.
constexpr std::int64_t millionths_up(double x) {
  const std::int64_t down = millionths_down(-x);
  return down == not_a_number ? down : -down;
}

}  // namespace monomorph::rule
