#pragma once
#include "numerics/covering_set.hpp"
#include "numerics/model_check.hpp"

#include <iterator>

namespace monomorph::testing {

struct CoveringRows {
  static constexpr int n = static_cast<int>(std::size(covering_set));
  static constexpr const Row& at(int i) { return covering_set[i]; }
};

/// One of three equal parts of the set: a file each, to compile beside each other.
template <int part> void check_third() {
  constexpr int first = CoveringRows::n * part / 3, end = CoveringRows::n * (part + 1) / 3;
  check_rows<CoveringRows, first, end - first>();
}

}  // namespace monomorph::testing
