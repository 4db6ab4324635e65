#pragma once
#include <cstdint>

namespace monomorph::train {

/// Mean and variance of a number that comes once a step, over about the last `window` of them: the first ones count
/// alike, and from then on weights fall exponentially, by 1 - 1 / window each (West 1979; Finch 2009, section 9).
struct RunningMoments {
  std::int64_t count = 0;
  double mean = 0, variance = 0;
  void add(double value, std::int64_t window);
  /// mean + deviations · √variance
  double above(double deviations) const;
  friend bool operator==(const RunningMoments&, const RunningMoments&) = default;
};

}  // namespace monomorph::train
