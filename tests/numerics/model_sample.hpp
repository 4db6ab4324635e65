#pragma once
#include "numerics/model_check.hpp"

/// Rows drawn from the full product of all axes, for the tests of label `exhaustive`.
namespace monomorph::testing {

struct SampledRows {
  static constexpr Row at(int i) {
    Row row{};
    for (int axis = 0; axis < n_axes; ++axis) {
      std::uint64_t x = 0x9E3779B97F4A7C15u * static_cast<std::uint64_t>(i * n_axes + axis + 1);  // SplitMix64
      x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
      x = (x ^ x >> 27) * 0x94D049BB133111EBu;
      row[axis] = static_cast<std::uint8_t>((x ^ x >> 31) % axis_levels[axis]);
    }
    return row;
  }
};

}  // namespace monomorph::testing
