#pragma once
#include <signal.h>
#include <string_view>

namespace monomorph {

/// While it lives, a mapped file (MappedFile) that is cut short under the program does not end it: what is lost reads
/// as zeros, and the loss is noted. From then on no AtomicFile is committed, and throw_if_truncated() throws. One at a
/// time.
class TruncationGuard {
 public:
  TruncationGuard();
  TruncationGuard(const TruncationGuard&) = delete;
  TruncationGuard& operator=(const TruncationGuard&) = delete;
  /// Gives the signal its former meaning.
  ~TruncationGuard();

 private:
  struct sigaction former_action_ {};
};

/// @throws [DATA-09], naming the file, if the latest guard noted one
void throw_if_truncated();

/// Forgets a file below `folder` that was noted, as nothing that was read of it is used.
void forget_truncated(std::string_view folder);

}  // namespace monomorph
