#pragma once
#include <monomorph/runtime/comm/checked_communicator.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <string>
#include <vector>

namespace monomorph {

struct CollectiveMeasure {
  std::string what;         ///< "gather of parameters"
  std::vector<int> ranks;   ///< of the group that does it
  double bytes_per_second;  ///< that each of them sends; of the slowest one
};
struct PairMeasure {
  int first, second;        ///< the two ranks
  double bytes_per_second;  ///< in each direction, both at once
};
struct CollectivesCheck {
  std::vector<CollectiveMeasure> collectives;  ///< every collective of a step, for every group of ranks
  PairMeasure slowest, fastest;
};

/// Runs every collective of a step on numbers whose result is known, in the memory that the communicator works in, and
/// sends messages between all pairs of its ranks. All of them, two at least, call it and get the same result.
/// @param checked the same communicator, by its other base class
/// @param elements how many fp32 elements a rank sends at a time
/// @throws Error [RANK-13] a result is wrong on this rank, [RANK-08] on another one; RankFailure
CollectivesCheck check_collectives(Communicator& communicator, CheckedCommunicator& checked,
                                   std::int64_t elements = std::int64_t{1} << 20);

}  // namespace monomorph
