#include <monomorph/runtime/cuda/connect.hpp>

#include "runtime/cuda/host/check.hpp"
#include "runtime/cuda/sums/pairwise.hpp"
#include "runtime/nccl/cuda_communicator.hpp"
#include "runtime/nccl/gpu_of_rank.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <algorithm>

namespace monomorph::cuda {
namespace {

/// Of the communicators of this process, which all ranks make in the same order: their keys in the store differ.
std::string new_key() {
  static int n_made = 0;
  return fmt::format("nccl/{}", n_made++);
}

void check_size(const RankGroup& data, int shards) {
  const int terms = std::max(shards, data.size() / shards);
  if (terms <= most_terms) return;
  throw UsageError("RANK-16", fmt::format("a rank adds up gradients of at most {} GPUs, and here of {}; choose "
                                          "sharding::HybridShard<n> with another n",
                                          most_terms, terms));
}

}  // namespace

Owned<Communicator> connect(std::type_identity<Queue>, const World& world, const RankGroup& data,
                            const CommunicatorSpec& spec) {
  if (world.size() == 1) return one_rank();
  const std::string key = new_key();
  const int device = gpu_of_rank(world, key + "/gpu");
  check(cudaSetDevice(device), "being chosen");
  if (data.size() == 1) return one_rank();
  check_size(data, spec.shards);
  return make_owned<CudaCommunicator>(Queue{}, device, world, key, data, spec);
}

}  // namespace monomorph::cuda
