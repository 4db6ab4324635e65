#pragma once
#include <chrono>

namespace monomorph {

/// While it lives, the first SIGINT, SIGTERM or SIGHUP is only noted, for the program to stop at a convenient place; a
/// second one ends the process at once, as without the guard, but for one that follows within a moment. A reader
/// that goes away (SIGPIPE) ends nothing, nor does a terminal (SIGHUP) under nohup. One at a time.
class InterruptionGuard {
 public:
  static constexpr std::chrono::milliseconds moment{2000}, double_press{500};  ///< the latter for SIGINT

  InterruptionGuard();
  InterruptionGuard(const InterruptionGuard&) = delete;
  InterruptionGuard& operator=(const InterruptionGuard&) = delete;
  /// Gives the signals their former meaning.
  ~InterruptionGuard();
};

/// The signal that the latest guard noted, 0 if none came.
int interrupting_signal() noexcept;

}  // namespace monomorph
