#pragma once

namespace monomorph::train {

/// While it lives, Ctrl-C and SIGTERM only note that the run is to end after the current step; a second one ends the
/// process at once, as without it. A reader of the output that goes away does not end the run.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  /// The signal's number, or 0.
  static int signal_received();
};

}  // namespace monomorph::train
