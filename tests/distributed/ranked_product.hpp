#pragma once
#include "distributed/ranked_check.hpp"

#include <utility>

/// The full product of all axes but the last, whose two values alternate, for the tests of label `exhaustive`.
namespace monomorph::testing {

/// From the slowest digit to the fastest: rows of one recipe lie side by side.
inline constexpr RankedAxis ranked_product_order[] = {ranked_model,         ranked_strategy, ranked_precision,
                                                      ranked_checkpointing, ranked_number,   ranked_accumulation};

constexpr int ranked_product_size() {
  int size = 1;
  for (const RankedAxis axis : ranked_product_order) size *= ranked_levels[axis];
  return size;
}

constexpr RankedRow ranked_product_row(int i) {
  RankedRow row{};
  int sum = 0;
  for (int place = std::size(ranked_product_order) - 1; place >= 0; --place) {
    const RankedAxis axis = ranked_product_order[place];
    row[axis] = static_cast<std::uint8_t>(i % ranked_levels[axis]);
    i /= ranked_levels[axis];
    // A recipe is compiled once: what does not shape it does not count.
    if (axis != ranked_accumulation && axis != ranked_number) sum += row[axis];
  }
  row[ranked_reduction] = static_cast<std::uint8_t>(sum % 2);
  return row;
}

/// One of n equal parts.
template <int part, int n> void check_part_of_product() {
  constexpr int size = ranked_product_size(), first = size * part / n, end = size * (part + 1) / n;
  [&]<int... i>(std::integer_sequence<int, i...>) { (check_row(ranked_case<ranked_product_row(first + i)>()), ...); }
  (std::make_integer_sequence<int, end - first>());
}

}  // namespace monomorph::testing
