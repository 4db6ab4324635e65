#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"

namespace monomorph::testing {

void check_no_races() { CHECK(Simulator::the().take_races().empty()); }

}  // namespace monomorph::testing
