#pragma once
#include "data/text/code_point_set.hpp"

#include <array>
#include <span>

namespace monomorph::data::unicode {

struct CategoryRange {
  char32_t first, last;
  std::array<char, 2> category;  ///< "Lu"
};
/// Sorted; code points in none are not assigned.
std::span<const CategoryRange> category_ranges();

/// Every `step`th code point from first to last has the lower case that is `difference` away.
struct LowerCaseRun {
  char32_t first, last;
  char32_t step;
  std::int32_t difference;
};
/// Sorted; without U+0130, whose lower case is two characters.
std::span<const LowerCaseRun> lower_case_runs();

}  // namespace monomorph::data::unicode
