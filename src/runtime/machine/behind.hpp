#pragma once
#include <future>
#include <thread>

namespace monomorph::runtime {

/// Leaves the processor to what computes: a thread of this priority gets some 3 % of a core that another wants, and all
/// of one that is idle. That it may be refused does no harm.
void yield_to_compute();

/// Runs `act` beside the steps, on a thread of its own; where the system has none to give, by whoever waits for it.
template <class Act> auto behind(Act act) {
  return std::async(std::launch::async | std::launch::deferred, [act, caller = std::this_thread::get_id()] {
    if (std::this_thread::get_id() != caller) yield_to_compute();
    return act();
  });
}

}  // namespace monomorph::runtime
