#include "runtime/distributed/rendezvous.hpp"

#include "runtime/distributed/failures.hpp"
#include "runtime/distributed/poll.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <numeric>
#include <random>
#include <vector>

// Every process has a random name, and announces it in the store. Rank 0 answers each name with its own name, under
// which the table of this start lies. Notes of earlier starts do no harm: rank 0 may answer names for which nobody
// waits, but a rank looks only for the answer to its own name. Rank 0 goes on until all ranks have confirmed their
// answer.
namespace monomorph::distributed {
namespace {

using std::chrono::milliseconds;

std::string new_name() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}{:08x}{:08x}", device(), device(), device(), device());
}

std::string announcement(int rank) { return fmt::format("announcement/{}", rank); }
std::string answer(const std::string& name) { return "answer/" + name; }
std::string joined(int rank) { return fmt::format("joined/{}", rank); }

void answer_announcement(Store& store, int rank, const std::string& start, milliseconds time_limit) {
  if (store.has(announcement(rank))) store.set(answer(store.get(announcement(rank), rank, time_limit)), start);
}

Store gather_ranks(Store& store, int size, milliseconds time_limit) {
  const std::string name = new_name();
  Store start = store.under(name + "/");
  std::vector<int> missing(size - 1);
  std::iota(missing.begin(), missing.end(), 1);
  const bool complete = poll(time_limit, [&] {
    for (const int rank : missing) answer_announcement(store, rank, name, time_limit);
    std::erase_if(missing, [&](int rank) { return start.has(joined(rank)); });
    return missing.empty();
  });
  if (!complete) throw absent_ranks(missing, time_limit);
  return start;
}

Store join_rank_0(Store& store, int rank, milliseconds time_limit) {
  const std::string name = new_name();
  const bool answered = poll(time_limit, [&] {
    store.set(announcement(rank), name);  // every time, because a late rank of an earlier start may overwrite it
    return store.has(answer(name));
  });
  if (!answered) throw absent_ranks({0}, time_limit);
  Store start = store.under(store.get(answer(name), 0, time_limit) + "/");
  start.set(joined(rank), "yes");
  return start;
}

}  // namespace

Store rendezvous(Store store, int rank, int size, milliseconds time_limit) {
  return rank == 0 ? gather_ranks(store, size, time_limit) : join_rank_0(store, rank, time_limit);
}

}  // namespace monomorph::distributed
