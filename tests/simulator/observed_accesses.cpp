// What kernels do to memory (tests/emulator/observed_accesses.cpp), told to the simulator.
#include "emulator/block_races.hpp"
#include "simulator/simulator.hpp"

namespace monomorph {

using simulator::Simulator;

void emulator::observed(const void* begin, std::size_t bytes, bool writes) {
  writes ? Simulator::the().writes(begin, bytes) : Simulator::the().reads(begin, bytes);
}

void emulator::found_race(const std::string& text, const void* address) {
  Simulator::the().add_race(text + "; " + Simulator::the().memory().place_of(address));
}

}  // namespace monomorph
