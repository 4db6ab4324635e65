#pragma once
#include <algorithm>
#include <cmath>

namespace monomorph::train {

/// By how much the scales of matrices change that are quantised.
class ScaleChanges {
 public:
  void add(double from, double to) {
    squared_scales_ += from * from;
    squared_changes_ += (to - from) * (to - from);
    if (from != 0) greatest_ = std::max(greatest_, std::abs((to - from) / from));
  }
  bool none() const { return squared_scales_ == 0; }
  double of_norm() const { return std::sqrt(squared_changes_ / squared_scales_); }
  double greatest() const { return greatest_; }  ///< of a scale, in parts of it

 private:
  double squared_scales_ = 0, squared_changes_ = 0, greatest_ = 0;
};

}  // namespace monomorph::train
