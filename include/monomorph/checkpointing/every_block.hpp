#pragma once
#include <monomorph/policy/checkpointing_policy.hpp>

namespace monomorph::checkpointing {

/// Blocks keep their input only.
struct EveryBlock {
  static constexpr Recompute recompute(int /*block*/) { return Recompute::block; }
};

}  // namespace monomorph::checkpointing
