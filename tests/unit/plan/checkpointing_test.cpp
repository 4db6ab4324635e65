#include <utility>
#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;
using namespace monomorph::checkpointing;

TEST_CASE("policies without parameters treat all blocks alike") {
  for (int block = 0; block < 100; ++block) {
    CHECK(KeepAll::recompute(block) == Recompute::nothing);
    CHECK(EveryBlock::recompute(block) == Recompute::block);
    CHECK(RecomputeCheap::recompute(block) == Recompute::cheap);
  }
}

TEST_CASE("EveryNthBlock recomputes blocks 0, n, 2n") {
  for (int block = 0; block < 100; ++block) {
    CHECK((EveryNthBlock<3>::recompute(block) == Recompute::block) == (block % 3 == 0));
    CHECK(EveryNthBlock<1>::recompute(block) == Recompute::block);
  }
}

namespace {
/// The loop of fms-fsdp, in whole numbers: cut_off starts at 1/2; block by block (from 1), recompute it if block times
/// fraction is at least cut_off, and raise cut_off by 1 whenever that is so.
template <int num, int den> void compare_with_loop() {
  int passed = 0;
  for (int block = 1; block <= 128; ++block) {
    const bool recomputed = 2 * block * num >= (2 * passed + 1) * den;
    if (recomputed) ++passed;
    INFO("block " << block - 1 << ", fraction " << num << "/" << den);
    CHECK((Fraction<num, den>::recompute(block - 1) == Recompute::block) == recomputed);
  }
}
template <int den, int... num> void compare_with_loop_up_to(std::integer_sequence<int, num...>) {
  (compare_with_loop<num + 1, den>(), ...);
}
}  // namespace

TEST_CASE("Fraction selects the blocks that fms-fsdp selects") {
  compare_with_loop_up_to<1>(std::make_integer_sequence<int, 1>());
  compare_with_loop_up_to<2>(std::make_integer_sequence<int, 2>());
  compare_with_loop_up_to<3>(std::make_integer_sequence<int, 3>());
  compare_with_loop_up_to<5>(std::make_integer_sequence<int, 5>());
  compare_with_loop_up_to<8>(std::make_integer_sequence<int, 8>());
  compare_with_loop_up_to<12>(std::make_integer_sequence<int, 12>());
}
