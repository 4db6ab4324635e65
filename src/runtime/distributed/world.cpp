#include <monomorph/runtime/comm/world.hpp>

#include "runtime/comm/one_rank.hpp"
#include "runtime/distributed/cpu_communicator.hpp"
#include "runtime/distributed/free_descriptors.hpp"
#include "runtime/distributed/launch_environment.hpp"
#include "runtime/distributed/poll.hpp"
#include "runtime/distributed/rendezvous.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <map>

namespace monomorph {
namespace {

constexpr int nobody = -1;

/// By rank, the one that it waited for in vain, or nobody.
using Notes = std::map<int, int>;

/// A rank may have waited for one that is well, but waited itself: the last one of such a row is silent.
int end_of_row(int waited_for, const Notes& notes) {
  for (std::size_t length = 0; length <= notes.size(); ++length) {
    const auto note = notes.find(waited_for);
    if (note == notes.end()) return waited_for;
    waited_for = note->second;
  }
  return nobody;  // they wait for each other
}

/// Waits for notes of ranks until the only one that is missing is where the row from `waited_for` ends, or `patience`
/// is over.   @return the ranks whose notes are missing
std::vector<int> await_notes(distributed::Store& store, const std::string& word, std::vector<int> of, int waited_for,
                             std::chrono::milliseconds patience) {
  Notes notes;
  distributed::poll(patience, [&] {
    std::erase_if(of, [&](int rank) {
      const std::string key = fmt::format("{}/{}", word, rank);
      if (!store.has(key)) return false;
      notes[rank] = std::stoi(store.get(key, rank, patience));
      return true;
    });
    return std::ranges::all_of(of, [&](int rank) { return rank == end_of_row(waited_for, notes); });
  });
  return of;
}

}  // namespace

World::World() = default;
World::World(distributed::Store store, RankPlace place, std::string host, std::chrono::milliseconds time_limit)
    : place_(place),
      host_(place.local_size == place.size ? "127.0.0.1" : std::move(host)),
      store_(std::make_unique<distributed::Store>(std::move(store))),
      time_limit_(time_limit) {}

void World::set(const std::string& key, const std::string& value) const {
  if (store_) store_->set(key, value);
}
std::string World::get(const std::string& key, int from) const { return store_->get(key, from, time_limit_); }
std::string World::take(const std::string& key, int from) const {
  std::string value = get(key, from);
  store_->remove(key);
  return value;
}

std::optional<std::vector<int>> World::notify_and_wait(const std::string& word, std::optional<int> expected_silent,
                                                       std::chrono::milliseconds patience) const {
  std::optional<std::vector<int>> silent;
  try {
    std::vector<int> others;
    for (int other = 0; other < size(); ++other)
      if (other != rank()) others.push_back(other);
    const int waited_for = expected_silent.value_or(nobody);
    store_->set(fmt::format("{}/{}", word, rank()), std::to_string(waited_for));
    silent = await_notes(*store_, word, others, waited_for, patience);
    // Rank 0's process may serve the store, so it stays until the other ranks have seen the notes, too, for as long as
    // they may wait for them.
    const std::string known = word + " and knows";
    if (rank() > 0) store_->set(fmt::format("{}/{}", known, rank()), std::to_string(nobody));
    std::erase_if(others, [&](int other) { return std::ranges::count(*silent, other) > 0; });
    if (rank() == 0) await_notes(*store_, known, others, nobody, 2 * patience);
  } catch (const std::exception&) {  // whatever c10d throws, the store has gone with the process that served it
    if (!silent && place_.rank_0_serves && rank() != 0) return {{0}};
  }
  return silent;  // what was learnt before holds
}

World::World(World&&) noexcept = default;
World::~World() = default;

std::unique_ptr<Communicator> World::communicator(int shards, DType wire) const {
  return communicator(groups({}).data, shards, wire);
}
std::unique_ptr<Communicator> World::communicator(const RankGroup& data, int shards, DType wire) const {
  if (data.size() == 1) return std::make_unique<OneRank>();
  return std::make_unique<distributed::CpuCommunicator>(point_to_point("peers/"), data, shards, wire);
}
std::unique_ptr<distributed::PointToPoint> World::point_to_point(const std::string& name) const {
  return std::make_unique<distributed::PointToPoint>(store_->under(name), rank(), size(), host_, time_limit_);
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
  if (!launch) {
    distributed::check_free_descriptors(distributed::run_descriptors);
    return {};
  }
  const bool serves = launch->rank == 0 && !launch->served_by_launcher;
  distributed::check_free_descriptors(distributed::run_descriptors + distributed::peer_descriptors(launch->size) +
                                      (serves ? distributed::server_descriptors(launch->size) : 0));
  const auto store = distributed::Store::tcp(launch->host, launch->port, serves, time_limit);
  return {distributed::rendezvous(store.under("monomorph/"), launch->rank, launch->size, time_limit),
          {.rank = launch->rank,
           .size = launch->size,
           .local_rank = launch->local_rank,
           .local_size = launch->local_size,
           .rank_0_serves = !launch->served_by_launcher},
          launch->host,
          time_limit};
}

std::unique_ptr<Communicator> one_rank() { return World().communicator(1, DType::fp32); }

}  // namespace monomorph
