#pragma once
#include <monomorph/runtime/memory/memory_access.hpp>

namespace monomorph {

/// What `check_collectives` needs of a communicator and a step does not. A communicator that can be checked derives
/// from this class as well as from Communicator.
class CheckedCommunicator {
 public:
  virtual ~CheckedCommunicator() = default;
  /// How the host reaches the memory of the views that its collectives are given, which may be a device's.
  virtual MemoryAccess memory() const = 0;
  /// Sends a view to one other rank while it receives another view from it. Other pairs of ranks may exchange views at
  /// the same time. Returns when both views have arrived.
  virtual void exchange(int other, View sent, View received) = 0;
};

}  // namespace monomorph
