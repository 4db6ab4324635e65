#pragma once
#include <array>
#include <utility>

/// What lies where at the moment, in the buffers that several units use in turn.
namespace monomorph::train {

/// Which units' whole parameters are there, or on their way.
template <int n_units> class GatheredUnits {
 public:
  bool insert(int unit) { return !std::exchange(there_[unit], true); }  ///< false: it was there
  void forget(int unit) { there_[unit] = false; }

 private:
  std::array<bool, n_units> there_{};
};

/// Whose whole gradients were last written to each of the two places for units in turn.
class GradientPlaces {
 public:
  /// @param place none (negative): one of the unit's own
  /// @return the unit that had the place before, or a negative number
  int take(int place, int unit) { return place < 0 ? unit : std::exchange(units_[place], unit); }

 private:
  std::array<int, 2> units_{-1, -1};
};

}  // namespace monomorph::train
