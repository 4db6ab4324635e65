#include "support/ranks.hpp"

#include "runtime/distributed/store.hpp"

#include <sched.h>
#include <exception>
#include <thread>
#include <vector>

namespace monomorph::testing {
namespace {

/// This thread and those that it starts take no core from another when they wake. There are many more of them than
/// cores: one that is put aside while it holds a connection's lock makes Gloo's loop poll for as long.
void wake_without_haste() {
  const sched_param none{};
  sched_setscheduler(0, SCHED_BATCH, &none);  // five times faster with 8 ranks on two cores; no matter if refused
}

}  // namespace

void with_ranks(int size, const std::function<void(const World&)>& f) {
  const auto store = distributed::Store::in_process();
  std::vector<std::exception_ptr> failures(size);
  std::vector<std::thread> ranks;
  ranks.reserve(size);
  for (int rank = 0; rank < size; ++rank)
    ranks.emplace_back([&, rank] {
      wake_without_haste();
      try {
        f(size == 1 ? World() : World(store, {rank, size, rank, size}, "", std::chrono::minutes(2)));
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  for (std::thread& rank : ranks) rank.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace monomorph::testing
