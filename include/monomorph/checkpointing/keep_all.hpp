#pragma once
#include <monomorph/policy/checkpointing_policy.hpp>

namespace monomorph::checkpointing {

/// Every activation that backward reads stays in memory.
struct KeepAll {
  static constexpr Recompute recompute(int /*block*/) { return Recompute::nothing; }
};

}  // namespace monomorph::checkpointing
