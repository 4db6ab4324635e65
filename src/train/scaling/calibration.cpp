#include "train/scaling/calibration.hpp"

namespace monomorph::train {

const Calibration& calibration() {
  static constexpr Calibration fitted{};
  return fitted;
}

}  // namespace monomorph::train
