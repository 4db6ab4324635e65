#pragma once
#include "runtime/distributed/store.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::distributed {

/// Collectives between GPUs. Defined in src/runtime/cuda in a build with CUDA; in others it only throws.
/// @throws Error [RANK-05], [RANK-15], [RANK-16], [RANK-18]
std::unique_ptr<Communicator> gpu_communicator(const Store& store, RankPlace place, int shards, DType wire,
                                               std::chrono::milliseconds time_limit);

/// [RANK-15]   @param reason ends the sentence "rank 3 needs a GPU, and"
Error without_gpu(int rank, const std::string& reason);

}  // namespace monomorph::distributed
