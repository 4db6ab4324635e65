#pragma once
#include <monomorph/runtime/world.hpp>
#include <string>
#include <vector>

namespace monomorph {

struct CollectiveMeasure {
  std::string name;         ///< "gather of parameters among 4 ranks"
  double bytes_per_second;  ///< that a rank sends: of the slowest rank
};
struct PairMeasure {
  int first, second;
  double bytes_per_second;  ///< in each direction, both at once
};
struct CollectivesCheck {
  std::vector<CollectiveMeasure> collectives;
  PairMeasure slowest, fastest;
};

/// Runs every collective of a step on numbers whose result is known, and messages between all pairs of ranks. All ranks
/// of the world call it, two or more of them, and have the same result.
/// @param shards, wire as of World::communicator
/// @throws Error [RANK-13] a result is wrong; RankFailure
CollectivesCheck check_collectives(const World& world, int shards, DType wire);

}  // namespace monomorph
