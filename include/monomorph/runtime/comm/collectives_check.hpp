#pragma once
#include <monomorph/runtime/comm/world.hpp>
#include <string>
#include <vector>

namespace monomorph {

struct CollectiveMeasure {
  std::string what;         ///< "gather of parameters"
  std::vector<int> ranks;   ///< of the group that does it
  double bytes_per_second;  ///< that each of them sends; of the slowest one
};
struct PairMeasure {
  int first, second;
  double bytes_per_second;  ///< in each direction, both at once
};
struct CollectivesCheck {
  std::vector<CollectiveMeasure> collectives;  ///< every collective of a step, for every group of ranks
  PairMeasure slowest, fastest;
};

/// Runs every collective of a step on numbers whose result is known, and sends messages between all pairs of ranks. All
/// ranks of the world, two at least, call it and get the same result.
/// @throws Error [RANK-13] a result is wrong on this rank, [RANK-08] on another one; RankFailure
CollectivesCheck check_collectives(const World& world, Communicator& communicator);

}  // namespace monomorph
