#pragma once
#include <monomorph/policy/checkpointing_policy.hpp>

namespace monomorph::checkpointing {

/// Blocks keep their input only.
struct EveryBlock {
  static constexpr Recompute recompute(int /*block*/) { return Recompute::block; }
};
static_assert(CheckpointingPolicy<EveryBlock>);

}  // namespace monomorph::checkpointing
