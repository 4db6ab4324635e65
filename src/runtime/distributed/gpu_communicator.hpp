#pragma once
#include "runtime/distributed/store.hpp"

#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::distributed {

/// Collectives between GPUs: those of src/runtime/cuda, in a build that has them.
/// @throws Error [RANK-05], [RANK-15], [RANK-16], [RANK-18]
std::unique_ptr<Communicator> gpu_communicator(const Store& store, RankPlace place, int shards, DType wire,
                                               std::chrono::milliseconds time_limit);

}  // namespace monomorph::distributed
