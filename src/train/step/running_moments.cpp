#include <monomorph/train/step/running_moments.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::train {

void RunningMoments::add(double value, std::int64_t window) {
  ++count;
  const double weight = 1 / static_cast<double>(std::min(count, window));
  const double change = weight * (value - mean);
  variance = (1 - weight) * (variance + (value - mean) * change);
  mean += change;
}

double RunningMoments::above(double deviations) const { return mean + deviations * std::sqrt(variance); }

}  // namespace monomorph::train
