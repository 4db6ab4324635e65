#pragma once
#include <monomorph/core/extremes.hpp>
#include <monomorph/train/step/unit_state.hpp>

namespace monomorph::train {

/// The replica's share of a shard, so that what several ranks hold is read by one of them.
inline View share_of(View shard, int replica, int replicas) {
  const std::int64_t part = align_up((shard.elements() + replicas - 1) / replicas);
  const std::int64_t first = smaller_of(replica * part, shard.elements());
  return shard.columns(first, smaller_of(part, shard.elements() - first));
}

/// Adds the norm of the part of each shard that is this replica's to add.
void add_gradient_norm(auto queue, std::span<const UnitState> units, GradientNorm order, int replica, int replicas,
                       PartialGradientNorm* norm) {
  for (const UnitState& unit : units)
    if (unit.gradient.present()) add_to_norm(queue, share_of(unit.gradient, replica, replicas), order, norm);
}

}  // namespace monomorph::train
