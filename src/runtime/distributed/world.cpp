#include <monomorph/runtime/world.hpp>

#include "runtime/distributed/cpu_communicator.hpp"
#include "runtime/distributed/launch_environment.hpp"
#include "runtime/distributed/one_rank.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <thread>

namespace monomorph {

World::World() = default;
World::World(distributed::Store store, int rank, int size, int local_size, std::string host,
             std::chrono::milliseconds time_limit)
    : rank_(rank),
      size_(size),
      local_size_(local_size),
      host_(local_size == size ? "127.0.0.1" : std::move(host)),
      store_(std::make_unique<distributed::Store>(std::move(store))),
      time_limit_(time_limit) {}

void World::set(const std::string& key, const std::string& value) const {
  if (store_) store_->set(key, value);
}
std::string World::get(const std::string& key) const { return store_->get(key, time_limit_); }

std::optional<std::vector<int>> World::leave_word(const std::string& word, int expected_silent,
                                                  std::chrono::milliseconds patience) const try {
  using Clock = std::chrono::steady_clock;
  const auto key = [&](int rank) { return fmt::format("{}/{}", word, rank); };
  const auto end = Clock::now() + patience;
  store_->set(key(rank_), "yes");
  std::vector<int> silent;
  for (int rank = 0; rank < size_; ++rank)
    if (rank != rank_) silent.push_back(rank);
  while (true) {
    std::erase_if(silent, [&](int rank) { return store_->has(key(rank)); });
    const bool waits = std::ranges::any_of(silent, [&](int rank) { return rank != expected_silent; });
    if (!waits || Clock::now() > end) return silent;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
} catch (const std::exception&) {  // whatever c10d throws: the store has gone with the rank that served it
  return std::nullopt;
}

World::World(World&&) noexcept = default;
World::~World() = default;

std::unique_ptr<Communicator> World::communicator(int shards, DType wire) const {
  if (size_ == 1) return std::make_unique<distributed::OneRank>();
  return std::make_unique<distributed::CpuCommunicator>(peers("peers/"), shards, wire);
}
std::unique_ptr<distributed::Peers> World::peers(const std::string& name) const {
  return std::make_unique<distributed::Peers>(store_->under(name), rank_, size_, host_, time_limit_);
}

namespace {
auto launch_environment() {
  return distributed::read_launch_environment([](const char* name) { return std::getenv(name); });
}
}  // namespace

LaunchedRanks launched_ranks() {
  const auto launch = launch_environment();
  return launch ? LaunchedRanks{launch->size, launch->local_size} : LaunchedRanks{};
}

World connect(std::chrono::milliseconds time_limit) {
  const auto launch = launch_environment();
  if (!launch) return {};
  const bool serves = launch->rank == 0 && !launch->served_by_launcher;
  const auto store = distributed::Store::tcp(launch->host, launch->port, serves, time_limit);
  return {store.under("monomorph/" + launch->attempt + "/"),
          launch->rank,
          launch->size,
          launch->local_size,
          launch->host,
          time_limit};
}

std::unique_ptr<Communicator> one_rank() { return World().communicator(1, DType::fp32); }

}  // namespace monomorph
