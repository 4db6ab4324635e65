#include "train/weights/held_pages.hpp"

#include "support/catch.hpp"

#include <vector>

using namespace monomorph::train;

TEST_CASE("files are let go each time that as much of them was read as may be held") {
  HeldPages held;
  std::vector<int> released_after;
  int reads = 0;
  const auto read = [&](std::size_t bytes) {
    ++reads;
    held.add(bytes, [&] { released_after.push_back(reads); });
  };
  read(HeldPages::most_bytes / 2);
  read(HeldPages::most_bytes / 2 - 1);
  CHECK(released_after.empty());
  read(1);
  read(HeldPages::most_bytes - 1);
  CHECK(released_after == std::vector{3});
  read(3 * HeldPages::most_bytes);
  read(1);
  CHECK(released_after == std::vector{3, 5});
}
