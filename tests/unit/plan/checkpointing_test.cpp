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

TEST_CASE("Selective recomputes what it names, in all blocks or in those of another policy") {
  constexpr Recompute what{.norm = true, .attention = true};
  for (int block = 0; block < 100; ++block) {
    CHECK(Selective<what>::recompute(block) == what);
    CHECK(Selective<what, EveryNthBlock<3>>::recompute(block) == (block % 3 == 0 ? what : Recompute::nothing));
    CHECK(Selective<Recompute::cheap>::recompute(block) == RecomputeCheap::recompute(block));
    CHECK(Selective<Recompute::block>::recompute(block) == EveryBlock::recompute(block));
  }
  CHECK_FALSE(offloads<Selective<what>>(0));
  CHECK(offloads<Selective<what, Offload<>>>(0));
  CHECK(Offload<Selective<what>>::recompute(0) == what);
}

TEST_CASE("choices of what is recomputed are numbers, and back") {
  for (unsigned number = 0; number <= all_choices; ++number) CHECK(number_of(recompute_of(number)) == number);
  CHECK(number_of(Recompute::nothing) == 0);
  CHECK(number_of({.activation = true, .mlp = true}) == 0b100010);
  CHECK(all_choices == 0b111111);
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
