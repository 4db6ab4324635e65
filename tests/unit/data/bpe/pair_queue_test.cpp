#include "unit/data/data_test_support.hpp"

#include <monomorph/data/bpe/pair_queue.hpp>

#include <map>
#include <random>
#include <set>

using namespace monomorph::data;

TEST_CASE("A set of numbers knows its least, whatever comes and goes") {
  std::mt19937 random(3);
  for (const std::size_t limit : {1, 63, 64, 65, 4096, 4097, 300'000}) {
    NumberSet numbers(limit);
    std::set<std::size_t> expected;
    for (int i = 0; i < 3000; ++i) {
      const std::size_t number = random() % limit;
      if (random() % 2 == 0) {
        numbers.insert(number);
        expected.insert(number);
      } else {
        numbers.erase(number);
        expected.erase(number);
      }
      REQUIRE(numbers.empty() == expected.empty());
      if (!expected.empty()) REQUIRE(numbers.least() == *expected.begin());
    }
  }
}

TEST_CASE("Pairs are taken by rank, then by place, in whatever order they came") {
  std::mt19937 random(4);
  for (const std::size_t n_ranks : {1, 3, 1000}) {
    for (const std::size_t n_places : {1, 40, 5000}) {
      CAPTURE(n_ranks, n_places);
      PairQueue queue(n_ranks);
      queue.resize(n_places);
      std::set<std::pair<std::size_t, std::size_t>> expected;
      std::map<std::size_t, std::size_t> rank_of;
      const auto take = [&] {
        const auto [rank, place] = queue.take();
        REQUIRE(std::pair<std::size_t, std::size_t>(rank, place) == *expected.begin());
        expected.erase(expected.begin());
        rank_of.erase(place);
      };
      for (int i = 0; i < 20'000; ++i) {
        const std::size_t place = random() % n_places, rank = random() % n_ranks;
        const auto known = rank_of.find(place);
        if (known == rank_of.end()) {
          queue.add(static_cast<std::uint32_t>(rank), place);
          expected.emplace(rank, place);
          rank_of[place] = rank;
        } else if (random() % 4 == 0) {
          take();
        } else {
          queue.remove(static_cast<std::uint32_t>(known->second), place);
          expected.erase({known->second, place});
          rank_of.erase(known);
        }
      }
      while (!queue.empty()) take();
      CHECK(expected.empty());
    }
  }
}
