#include <monomorph/runtime/world.hpp>

#include "runtime/distributed/cpu_communicator.hpp"
#include "runtime/distributed/one_rank.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <cstdlib>
#include <string_view>

namespace monomorph {

World::World() = default;
World::World(distributed::Store store, int rank, int size, std::chrono::milliseconds time_limit)
    : rank_(rank),
      size_(size),
      store_(std::make_unique<distributed::Store>(std::move(store))),
      time_limit_(time_limit) {}
World::World(World&&) noexcept = default;
World::~World() = default;

std::unique_ptr<Communicator> World::communicator(int shards, DType wire) const {
  if (size_ == 1) return std::make_unique<distributed::OneRank>();
  auto peers = std::make_unique<distributed::Peers>(store_->under("peers/"), rank_, size_, time_limit_);
  return std::make_unique<distributed::CpuCommunicator>(std::move(peers), shards, wire);
}

World connect() {
  for (const char* const variable : {"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const value = std::getenv(variable);
    if (value == nullptr || std::string_view(value) == "1") continue;
    throw UsageError(
        fmt::format("[RANK-01] the launcher asks for {} ranks ({}), and this release trains on one; start "
                    "the program without a launcher",
                    value, variable));
  }
  return {};
}

std::unique_ptr<Communicator> one_rank() { return World().communicator(1, DType::fp32); }

}  // namespace monomorph
