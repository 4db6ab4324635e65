#include "numerics/model_covering.hpp"
#include "support/catch.hpp"

TEST_CASE("whole models against autograd, part 2 of 3 of the covering set") { monomorph::testing::check_third<2>(); }
