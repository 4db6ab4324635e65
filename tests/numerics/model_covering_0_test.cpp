#include "numerics/model_covering.hpp"
#include "support/catch.hpp"

TEST_CASE("whole models against autograd, part 0 of 3 of the covering set") { monomorph::testing::check_third<0>(); }
