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

/// Of the replica's share of each shard.
PartialGradientNorm partial_gradient_norm(auto queue, std::span<const UnitState> units, GradientNorm order, int replica,
                                          int replicas) {
  PartialGradientNorm size;
  for (const UnitState& unit : units) {
    if (!unit.gradient.present()) continue;
    const View share = share_of(unit.gradient, replica, replicas);
    switch (order) {
      case GradientNorm::one:
        size.sum.add(sum_of_magnitudes(queue, share));
        break;
      case GradientNorm::two:
        size.sum.add(sum_of_squares(queue, share));
        break;
      case GradientNorm::infinity:
        size.greatest = larger_or_nan(size.greatest, greatest_magnitude(queue, share));
    }
  }
  return size;
}

}  // namespace monomorph::train
