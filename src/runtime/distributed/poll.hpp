#pragma once
#include <algorithm>
#include <chrono>
#include <thread>

namespace monomorph::distributed {

/// Tests a condition until it holds or the time is over: often at first, as it mostly holds soon, and then every 50 ms.
/// @return whether it holds
template <class Condition> bool poll(std::chrono::milliseconds time_limit, Condition holds) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds longest{50};
  const auto end = Clock::now() + time_limit;
  for (std::chrono::milliseconds pause{1}; !holds(); pause = std::min(2 * pause, longest)) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace monomorph::distributed
