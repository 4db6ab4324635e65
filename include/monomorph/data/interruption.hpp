#pragma once

namespace monomorph::data {

/// While it lives, SIGINT and SIGTERM only ask to stop: throw_if_interrupted() throws at the next convenient place, so
/// that everything half-written is removed on the way out. One at a time.
class InterruptionGuard {
 public:
  InterruptionGuard();
  InterruptionGuard(const InterruptionGuard&) = delete;
  InterruptionGuard& operator=(const InterruptionGuard&) = delete;
  /// Gives the signals their former meaning.
  ~InterruptionGuard();
};

/// The signal that asked to stop, 0 if none did.
int interrupting_signal() noexcept;

/// @throws [DATA-11] after a signal that an InterruptionGuard caught
void throw_if_interrupted();

}  // namespace monomorph::data
