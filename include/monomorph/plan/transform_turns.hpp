#pragma once
#include <monomorph/plan/optimizer_buffers.hpp>

/// Which rank transforms which matrices. Units that the optimiser transforms are counted from the lowest one, in rounds
/// of as many as there are ranks in a group that shares units: in a round each of these ranks gets one unit whole.
namespace monomorph::plan {

/// Whether ranks that share units share the work of transforming them, too. State that waits in the host's memory is on
/// the device for one unit at a time, from what is done before a transformation to the update behind it; then each rank
/// transforms all units.
template <class R> inline constexpr bool shares_transforms = !OptimizerBuffers<R>::on_host;

/// The same of the recipe's own sharding strategy, by which ranks may share nothing.
template <class R>
inline constexpr bool takes_turns_to_transform = shares_transforms<R>&& splits_optimizer<typename R::sharding>;

/// When a unit is transformed, and by whom.
struct TransformTurn {
  int round = 0;
  int rank = 0;  ///< of the group
};
/// @param i of the units that are transformed
constexpr TransformTurn transform_turn(int i, int ranks) { return {i / ranks, i % ranks}; }

}  // namespace monomorph::plan
