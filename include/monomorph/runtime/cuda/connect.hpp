#pragma once
#include <monomorph/core/owned.hpp>
#include <monomorph/runtime/cuda/queue.hpp>
#include <type_traits>

namespace monomorph {
class Communicator;
struct CommunicatorSpec;
struct RankGroup;
class World;
}  // namespace monomorph

namespace monomorph::cuda {

/// As connect_ranks: collectives between GPUs, one of which is the rank's, by NCCL. They take their turn on the queue's
/// stream and run beside it on streams of their own. The rank's GPU becomes the process's: call it before a queue is
/// made. In src/runtime/nccl.
/// @throws UsageError [RANK-15] a rank has no GPU, [RANK-16] a group is too large, [RANK-26] ranks share a GPU;
///   Error [RANK-05], [RANK-18]
Owned<Communicator> connect(std::type_identity<Queue>, const World& world, const RankGroup& data,
                            const CommunicatorSpec& spec);

}  // namespace monomorph::cuda
