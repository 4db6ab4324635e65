#pragma once
#include "simulator/simulator.hpp"
#include "support/gpu_step.hpp"

/// What tests of whole steps on a simulated GPU share.
namespace monomorph::testing {

using simulator::Schedule;
using simulator::Simulator;

}  // namespace monomorph::testing
