#include "distributed/ranked_check.hpp"
#include "distributed/ranked_covering_set.hpp"
#include "support/catch.hpp"
#include "support/covering_set.hpp"

namespace monomorph::testing {

TEST_CASE("every pair of values of two axes of a division meets in a row of the covering set") {
  CHECK(missing_pairs<RankedRow>(ranked_covering_set, ranked_levels).empty());  // run make_covering_set.py
  CHECK(within_levels<RankedRow>(ranked_covering_set, ranked_levels));
}

namespace {

/// One of four equal parts of the set, to run beside each other.
template <int part> void check_quarter() {
  constexpr int n = std::size(ranked_covering_set), first = n * part / 4, end = n * (part + 1) / 4;
  [&]<int... i>(std::integer_sequence<int, i...>) { (check_row(ranked_case<ranked_covering_set[first + i]>()), ...); }
  (std::make_integer_sequence<int, end - first>());
}

}  // namespace

TEST_CASE("several ranks train as one does, in 100 steps: first quarter of the covering set") { check_quarter<0>(); }
TEST_CASE("several ranks train as one does, in 100 steps: second quarter") { check_quarter<1>(); }
TEST_CASE("several ranks train as one does, in 100 steps: third quarter") { check_quarter<2>(); }
TEST_CASE("several ranks train as one does, in 100 steps: fourth quarter") { check_quarter<3>(); }

}  // namespace monomorph::testing
