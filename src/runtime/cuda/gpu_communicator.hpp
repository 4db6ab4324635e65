#pragma once
#include "runtime/distributed/store.hpp"

#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::cuda {

/// Collectives between GPUs over NCCL, one rank a GPU. Views lie in the memory of the rank's GPU; its compute is what
/// the thread that calls puts on its current stream. All ranks make it at once; it becomes the thread's current device.
/// A call returns when its work is in line, `sum` when it is done. A rank that fails is noticed by the next call after
/// NCCL's watchdog has given the collective up.
/// @throws Error [RANK-05] a rank finds no GPU, or does not come; [RANK-16], [RANK-18]
std::unique_ptr<Communicator> gpu_communicator(const distributed::Store& store, RankPlace place, int shards, DType wire,
                                               std::chrono::milliseconds time_limit);

}  // namespace monomorph::cuda
