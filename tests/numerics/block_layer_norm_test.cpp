#include "numerics/block_recipes.hpp"
#include "support/catch.hpp"

TEST_CASE("blocks with layer norms without bias, against autograd") { monomorph::testing::check_blocks<0>(); }
