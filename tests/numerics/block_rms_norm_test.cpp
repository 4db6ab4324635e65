#include "numerics/block_recipes.hpp"
#include "support/catch.hpp"

TEST_CASE("blocks with RMS norms without bias, against autograd") { monomorph::testing::check_blocks<1>(); }
