#pragma once
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>

namespace monomorph::testing {

/// The pairs of values of two axes that meet in no row, as text: "axis=value axis=value; ".
/// @param levels how many values each axis has: an array as long as a row
template <class Row> std::string missing_pairs(std::span<const Row> rows, const Row& levels) {
  std::string missing;
  for (std::size_t a = 0; a < levels.size(); ++a)
    for (std::size_t b = a + 1; b < levels.size(); ++b)
      for (int x = 0; x < levels[a]; ++x)
        for (int y = 0; y < levels[b]; ++y)
          if (std::ranges::none_of(rows, [&](const Row& row) { return row[a] == x && row[b] == y; }))
            missing +=
                std::to_string(a) + "=" + std::to_string(x) + " " + std::to_string(b) + "=" + std::to_string(y) + "; ";
  return missing;
}

/// That no value is beyond its axis.
template <class Row> bool within_levels(std::span<const Row> rows, const Row& levels) {
  return std::ranges::all_of(rows, [&](const Row& row) {
    return std::ranges::equal(row, levels, [](int x, int n) { return x < n; });
  });
}

}  // namespace monomorph::testing
