#pragma once
#include <array>
#include <utility>

/// What lies where at the moment, in the buffers that several units use in turn.
namespace monomorph::train {

/// Which units' unsharded parameters are there, or in flight.
template <int n_units> class GatheredUnits {
 public:
  bool insert(int unit) { return !std::exchange(there_[unit], true); }  ///< false: it was there
  void forget(int unit) { there_[unit] = false; }

 private:
  std::array<bool, n_units> there_{};
};

/// Which unit's unsharded gradients were last written to each of the two slots.
class GradientSlots {
 public:
  /// @param slot negative if the unit's gradients have a place of their own
  /// @return the unit that had the slot before, or a negative number
  int take(int slot, int unit) { return slot < 0 ? unit : std::exchange(units_[slot], unit); }

 private:
  std::array<int, 2> units_{-1, -1};
};

}  // namespace monomorph::train
