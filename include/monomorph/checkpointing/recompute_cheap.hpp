#pragma once
#include <monomorph/policy/checkpointing_policy.hpp>

namespace monomorph::checkpointing {

/// Outputs of norms and activation functions are computed again from what is kept; matrix products are not. As
/// `Selective<Recompute::cheap>`, but also for blocks that have nothing cheap.
struct RecomputeCheap {
  static constexpr Recompute recompute(int /*block*/) { return Recompute::cheap; }
};

}  // namespace monomorph::checkpointing
