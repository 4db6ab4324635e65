#pragma once
#include <monomorph/plan/optimizer_buffers.hpp>

/// Which rank transforms which matrices. Units that the optimiser transforms are counted from the lowest one; in each
/// round every rank of a group, which share these units, gets one of them whole: `ranks` units at once.
namespace monomorph::plan {

/// Whether ranks that share units share the work of transforming them, too. State that waits in the host's memory is on
/// the device for one unit at a time, from what is done before a transformation to the update behind it; then each rank
/// transforms all units in turn.
template <class R> inline constexpr bool shares_transforms = !OptimizerBuffers<R>::on_host;

/// Of the i-th unit that is transformed.
struct TransformTurn {
  int round = 0;
  int rank = 0;  ///< of the group
};
constexpr TransformTurn transform_turn(int i, int ranks) { return {i / ranks, i % ranks}; }

}  // namespace monomorph::plan
