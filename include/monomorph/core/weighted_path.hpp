#pragma once
#include <string>
#include <vector>

namespace monomorph {

/// One of several files and how much of it is drawn, relative to the others.
struct WeightedPath {
  std::string path;
  double weight = 1;
  friend bool operator==(const WeightedPath&, const WeightedPath&) = default;
};
using WeightedPaths = std::vector<WeightedPath>;

inline constexpr double least_weight = 1e-9, greatest_weight = 1e9;

}  // namespace monomorph
