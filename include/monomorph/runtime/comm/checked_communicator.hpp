#pragma once
#include <monomorph/runtime/memory/memory_access.hpp>

namespace monomorph {

/// What a check asks of a communicator beyond what a step does: a communicator that can be checked is one of these,
/// too.
class CheckedCommunicator {
 public:
  virtual ~CheckedCommunicator() = default;
  /// Of the memory in which views lie that its collectives take.
  virtual MemoryAccess memory() const = 0;
  /// Sends a view to one other rank and receives another from it, both at once, while pairs of other ranks may do the
  /// same. Returns when it is done.
  virtual void exchange(int other, View sent, View received) = 0;
};

}  // namespace monomorph
