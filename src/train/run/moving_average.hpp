#pragma once
#include <monomorph/train/step/training_step.hpp>

#include <vector>

namespace monomorph::train {

/// The moving average that an optimiser keeps of parameters (optim::Averaged), for a step to use in their place.
/// Without such an optimiser nothing happens here.
class MovingAverage {
 public:
  /// @param step valid as long as this is
  explicit MovingAverage(TrainingStep& step);

  /// Calls f while parameters and average have changed places, unless no update was made yet of which the average would
  /// be. If f throws, they stay exchanged.
  template <class F> void used_by(std::int64_t updates, F&& f) {
    if (updates > 0) exchange();
    f();
    if (updates > 0) exchange();
  }

 private:
  struct Pair {
    View parameter, average;
  };
  void exchange();

  TrainingStep& step_;
  std::vector<Pair> pairs_;
};

}  // namespace monomorph::train
