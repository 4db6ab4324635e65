#include "support/ranks.hpp"

#include "runtime/distributed/store.hpp"

#include <exception>
#include <thread>
#include <vector>

namespace monomorph::testing {

void with_ranks(int size, const std::function<void(const World&)>& f) {
  const auto store = distributed::Store::in_process();
  std::vector<std::exception_ptr> failures(size);
  std::vector<std::thread> ranks;
  ranks.reserve(size);
  for (int rank = 0; rank < size; ++rank)
    ranks.emplace_back([&, rank] {
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
