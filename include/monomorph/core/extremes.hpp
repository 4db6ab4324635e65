#pragma once
#include <cstdint>

namespace monomorph {

// What <algorithm> has, without it: it would take a third of the time in which the headers of a recipe are read.
constexpr std::int64_t smaller_of(std::int64_t a, std::int64_t b) { return b < a ? b : a; }
constexpr std::int64_t larger_of(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
constexpr std::int64_t clamped(std::int64_t x, std::int64_t low, std::int64_t high) {
  return smaller_of(larger_of(x, low), high);
}
/// Not a number as soon as one of them is, so that an infinity norm does not hide it.
constexpr double larger_or_nan(double a, double b) { return b > a || __builtin_isnan(b) ? b : a; }

}  // namespace monomorph
