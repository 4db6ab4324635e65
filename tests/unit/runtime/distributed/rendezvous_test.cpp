#include "runtime/distributed/rendezvous.hpp"

#include <future>
#include <thread>
#include <vector>
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace rendezvous_test {

using monomorph::distributed::rendezvous;
using monomorph::distributed::Store;
using monomorph::testing::contains;
using monomorph::testing::error_of;
using namespace std::chrono_literals;

namespace {

constexpr std::chrono::milliseconds enough{20'000};

std::future<Store> rendezvous_of(const Store& store, int rank, int size) {
  return std::async(std::launch::async, [=] { return rendezvous(store, rank, size, enough); });
}

/// What the ranks of a start have joined, in their order.
std::vector<Store> start(const Store& store, int size) {
  std::vector<std::future<Store>> ranks;
  for (int rank = size; rank-- > 0;) ranks.insert(ranks.begin(), rendezvous_of(store, rank, size));
  std::vector<Store> tables;
  for (std::future<Store>& rank : ranks) tables.push_back(rank.get());
  return tables;
}

/// That a start's ranks see each other's notes.
void check_together(std::vector<Store>& ranks) {
  for (std::size_t writer = 0; writer < ranks.size(); ++writer) {
    const std::string key = "note of rank " + std::to_string(writer);
    ranks[writer].set(key, "written");
    for (Store& reader : ranks) CHECK(reader.has(key));
  }
}

}  // namespace

TEST_CASE("each start has a table of its own at one rendezvous") {
  const Store store = Store::in_process();
  std::vector<Store> first = start(store, 3);
  check_together(first);
  first[0].set("verdict", "of the first start");
  for (const int size : {3, 2, 4}) {  // as nodes go and come
    std::vector<Store> next = start(store, size);
    CHECK_FALSE(next[0].has("verdict"));
    check_together(next);
  }
}

TEST_CASE("ranks that gave up before the others came are not taken for those of the next start") {
  const Store store = Store::in_process();
  for (const int rank : {1, 2})
    CHECK(contains(error_of([&] { rendezvous(store, rank, 3, 100ms); }), "[RANK-05] rank 0 did not come"));
  std::future<Store> first = rendezvous_of(store, 0, 3), second = rendezvous_of(store, 1, 3);
  CHECK(second.valid());
  CHECK(first.wait_for(300ms) == std::future_status::timeout);  // for the new rank 2
  std::future<Store> third = rendezvous_of(store, 2, 3);
  std::vector<Store> ranks{first.get(), second.get(), third.get()};
  check_together(ranks);
}

TEST_CASE("a rank that is announced anew is answered anew") {
  const Store store = Store::in_process();
  std::future<Store> second = rendezvous_of(store, 1, 2);
  std::this_thread::sleep_for(200ms);
  Store(store).set("announcement/1", "a rank of an earlier start, which came late");
  std::vector<Store> ranks{rendezvous(store, 0, 2, enough), second.get()};
  check_together(ranks);
}

TEST_CASE("rank 0 names the ranks that did not come") {
  const Store store = Store::in_process();
  std::future<Store> third = rendezvous_of(store, 2, 4);
  CHECK(contains(error_of([&] { rendezvous(store, 0, 4, 1s); }), "[RANK-05] ranks 1, 3 did not come"));
  CHECK_NOTHROW(third.get());
}

}  // namespace rendezvous_test
