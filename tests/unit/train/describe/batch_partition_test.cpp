#include "train/describe/batch_partition.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/sharding/full_shard.hpp>
#include <monomorph/sharding/hybrid_shard.hpp>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

template <class Sharding> RecipeProgram recipe(MeshSpec mesh = {}) {
  RecipeProgram program;
  program.mesh = mesh;
  program.optimizer_shards = Sharding::optimizer_shards;
  return program;
}

}  // namespace

TEST_CASE("a number of ranks that a sharding can't be divided into is refused with every factor") {
  using Hybrid = sharding::HybridShard<4>;
  for (const int ranks : {1, 2, 3, 4, 8, 12}) CHECK_NOTHROW(check_groups(recipe<Hybrid>(), ranks));
  for (const int ranks : {1, 5, 6}) CHECK_NOTHROW(check_groups(recipe<sharding::FullShard>(), ranks));
  const std::string six = error_of([] { check_groups(recipe<Hybrid>(), 6); });
  CHECK(six.starts_with("[RANK-17]"));
  CHECK(contains(six, "1 x 1 x 1 x 4 = 4, and are 6; start 4 or 8"));
  CHECK(contains(error_of([] { check_groups(recipe<Hybrid>({.tp = 2, .pp = 3}), 36); }),
                 "2 x 3 x 1 x 4 = 24, and are 36; start 24 or 48"));
  CHECK(contains(error_of([] { check_groups(recipe<sharding::FullShard>({.tp = 2}), 1); }),
                 "2 x 1 x 1 x 1 = 2, and are 1; start 2"));
}
