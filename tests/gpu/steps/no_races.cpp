#include "support/gpu_step.hpp"

namespace monomorph::testing {

/// A GPU does not tell: that streams wait as they must shows in the bits of recorded_steps_test.cpp, and on simulated
/// GPUs.
void check_no_races() {}

}  // namespace monomorph::testing
