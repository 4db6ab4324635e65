#include "runtime/nccl/gpu_of_rank.hpp"

#include "runtime/cuda/host/check.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <map>

namespace monomorph::cuda {
namespace {

int visible_gpus(int rank) {
  if (const auto reason = why_no_gpu())
    throw UsageError("RANK-15", fmt::format("rank {} needs a GPU, and CUDA has none there ({}); see nvidia-smi and "
                                            "CUDA_VISIBLE_DEVICES on its machine",
                                            rank, *reason));
  int count = 0;
  check(cudaGetDeviceCount(&count), "naming itself");
  return count;
}

/// The same for no other GPU in the world.
std::string identity_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "naming itself");
  std::string text;
  for (const char byte : properties.uuid.bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// What rank 0 finds: nothing, or the ranks that share a GPU.
std::string shared_among(const World& world, const std::string& key) {
  std::map<std::string, int> rank_of;
  for (int rank = 0; rank < world.size(); ++rank) {
    const auto [found, is_new] = rank_of.try_emplace(world.get(fmt::format("{}/{}", key, rank), rank), rank);
    if (!is_new) return fmt::format("{} and {}", found->second, rank);
  }
  return "";
}

/// Returns once all ranks have the verdict. Rank 0 holds the store, so that one that asked after it had ended would be
/// told of a lost connection in place of what is wrong.
void see_that_all_have_heard(const World& world, const std::string& key) {
  const auto heard = [&](int rank) { return fmt::format("{}/heard/{}", key, rank); };
  if (world.rank() != 0) return world.set(heard(world.rank()), "yes");
  for (int rank = 1; rank < world.size(); ++rank) world.get(heard(rank), rank);
}

}  // namespace

int gpu_of_rank(const World& world, const std::string& key) {
  const std::string verdict = key + "/shared";
  const int device = world.place().local_rank % visible_gpus(world.rank());
  world.set(fmt::format("{}/{}", key, world.rank()), identity_of(device));
  if (world.rank() == 0) world.set(verdict, "ranks " + shared_among(world, key));
  const std::string shared = world.get(verdict, 0);
  if (shared != "ranks ") {
    see_that_all_have_heard(world, key);
    throw UsageError("RANK-26", fmt::format("{} have the same GPU, and each rank must have one of its own; start no "
                                            "more ranks on a machine than it has GPUs",
                                            shared));
  }
  return device;
}

}  // namespace monomorph::cuda
