#pragma once
#include "runtime/distributed/store.hpp"

#include <monomorph/runtime/comm/world.hpp>

namespace monomorph::cuda {

/// Collectives between GPUs over NCCL, with one GPU per rank. Views lie in the memory of the rank's GPU; its compute is
/// what the calling thread enqueues on its current stream. All ranks call this at the same time; their GPU becomes the
/// thread's current device. A collective returns when its work is enqueued, but `all_reduce_sum` when it is done. A
/// rank that fails is noticed by the next call after NCCL's watchdog has aborted the collective.
/// @throws Error [RANK-05] a rank finds no GPU, or does not come; [RANK-16], [RANK-18]
std::unique_ptr<Communicator> gpu_communicator(const distributed::Store& store, RankPlace place, int shards, DType wire,
                                               std::chrono::milliseconds time_limit);

}  // namespace monomorph::cuda
