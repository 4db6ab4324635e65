#pragma once
#include <monomorph/policy/optimizer_policy.hpp>

namespace monomorph::optim {

/// An optimiser whose state and master parameters lie in the host's memory. A unit's come to the device for its update,
/// while the unit before it is updated, and go back while the next one is.
template <class Optimizer> struct HostState : Optimizer {
  using without_placement = Optimizer;
  using placed = HostState;  ///< a type that derives from this one may have arithmetic of its own
  static constexpr MemorySpace state_space = MemorySpace::host;
};

}  // namespace monomorph::optim
