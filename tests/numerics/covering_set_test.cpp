#include "numerics/covering_set.hpp"
#include "support/catch.hpp"
#include "support/covering_set.hpp"

namespace monomorph::testing {

static_assert(axis_levels[checkpointing_axis] == std::tuple_size_v<CheckpointingPolicies>);
static_assert(axis_levels[sharding_axis] == std::tuple_size_v<ShardingPolicies>);
static_assert(axis_levels[documents_axis] == std::tuple_size_v<AttentionPolicies>);

TEST_CASE("every pair of values of two axes of a recipe meets in a row of the covering set") {
  CHECK(missing_pairs<Row>(covering_set, axis_levels).empty());  // run make_covering_set.py
  CHECK(within_levels<Row>(covering_set, axis_levels));
}

}  // namespace monomorph::testing
