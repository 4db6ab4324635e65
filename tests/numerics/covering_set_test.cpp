#include "numerics/covering_set.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace monomorph::testing {
namespace {

bool covered(int a, int x, int b, int y) {
  return std::any_of(std::begin(covering_set), std::end(covering_set),
                     [&](const Row& row) { return row[a] == x && row[b] == y; });
}

}  // namespace

static_assert(axis_levels[checkpointing_axis] == std::tuple_size_v<CheckpointingPolicies>);
static_assert(axis_levels[sharding_axis] == std::tuple_size_v<ShardingPolicies>);
static_assert(axis_levels[documents_axis] == std::tuple_size_v<AttentionPolicies>);

TEST_CASE("every pair of values of two axes meets in a row of the covering set") {
  std::string missing;
  for (int a = 0; a < n_axes; ++a)
    for (int b = a + 1; b < n_axes; ++b)
      for (int x = 0; x < axis_levels[a]; ++x)
        for (int y = 0; y < axis_levels[b]; ++y)
          if (!covered(a, x, b, y))
            missing +=
                std::to_string(a) + "=" + std::to_string(x) + " " + std::to_string(b) + "=" + std::to_string(y) + "; ";
  CHECK(missing == "");  // run make_covering_set.py
}

TEST_CASE("no digit of the covering set is beyond its axis") {
  for (const Row& row : covering_set)
    for (int axis = 0; axis < n_axes; ++axis) CHECK(row[axis] < axis_levels[axis]);
}

}  // namespace monomorph::testing
