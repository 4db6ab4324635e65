#pragma once
#include <algorithm>
#include <cmath>
#include <monomorph/train/step/unit_state.hpp>

namespace monomorph::train {

/// The replica's share of a shard, so that what several ranks hold is read by one of them.
inline View share_of(View shard, int replica, int replicas) {
  const std::int64_t part = align_up((shard.elements() + replicas - 1) / replicas);
  const std::int64_t first = std::min(replica * part, shard.elements());
  return shard.columns(first, std::min(part, shard.elements() - first));
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
        const double greatest = greatest_magnitude(queue, share);
        size.greatest = greatest > size.greatest || std::isnan(greatest) ? greatest : size.greatest;
    }
  }
  return size;
}

}  // namespace monomorph::train
