// Ranks that give up tell each other so, and learn who is silent.
#include <monomorph/runtime/comm/world.hpp>

#include "support/catch.hpp"
#include "support/ranks.hpp"

#include <chrono>
#include <latch>

namespace monomorph::testing {

/// Rank 2 is silent: rank 0 waited for it, and rank 1 for rank 0. Rank 3 waited for rank 2, too.
TEST_CASE("a rank that waited for one that waited itself learns who is silent, without waiting for it") {
  constexpr std::chrono::minutes patience{1};
  constexpr int silent = 2;
  std::latch others_know(3);
  with_ranks(4, [&](const World& world) {
    if (world.rank() == silent) return others_know.wait();
    const auto begin = std::chrono::steady_clock::now();
    const auto found = world.notify_and_wait("gives up", world.rank() == 1 ? 0 : silent, patience);
    CHECK(std::chrono::steady_clock::now() - begin < patience);
    CHECK(found == std::vector{silent});
    others_know.count_down();
    others_know.wait();  // rank 0's world serves the notes
  });
}

}  // namespace monomorph::testing
