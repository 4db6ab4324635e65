// Tests of kernels, in a program in which each byte that kernels access is looked at: a test fails if two blocks race.
#include "emulator/block_races.hpp"
#include "emulator/emulator.hpp"
#include "emulator/sample_kernels.hpp"
#include "support/catch.hpp"

#include <string>
#include <vector>

namespace monomorph::emulator {
namespace {

std::vector<std::string>* expected = nullptr;  ///< where races go that do not fail a test

/// What is found in each order of blocks.
template <class F> std::vector<std::vector<std::string>> races_of(F f) {
  std::vector<std::vector<std::string>> found;
  using enum Schedule::Order;
  for (const Schedule each : {Schedule{forward}, {backward}, {random, 1}, {random, 2}}) {
    schedule() = each;
    BlockRaces::the().forget_places();
    expected = &found.emplace_back();
    f();
    expected = nullptr;
  }
  schedule() = {};
  return found;
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

void observed(const void*, std::size_t, bool) {}
void found_race(const std::string& text, const void*) {
  if (expected != nullptr)
    expected->push_back(text);
  else
    FAIL_CHECK(text);
}

TEST_CASE("blocks that write one word race", "[block_races]") {
  for (const auto& found : races_of([] {
         std::uint32_t word = 0;
         samples::write_one_word(&word);
       })) {
    REQUIRE(found.size() == 1);
    CAPTURE(found.front());
    CHECK(contains(found.front(), "writes what block"));
    CHECK(contains(found.front(), "number_of_block"));
    CHECK(contains(found.front(), "sample_kernels.cu:"));
  }
}

TEST_CASE("a block that reads what another one writes races, whichever comes first", "[block_races]") {
  for (const auto& found : races_of([] {
         std::vector<std::uint32_t> x(4 * 32), y(x);
         samples::read_of_neighbours(x.data(), y.data());
       })) {
    REQUIRE(found.size() == 2);  // in each order some read what was written, and some write what was read
    CHECK(contains(found.front() + found.back(), "reads what block"));
    CHECK(contains(found.front() + found.back(), "writes what block"));
  }
}

TEST_CASE("what some blocks add atomically no other may read as memory", "[block_races]") {
  for (const auto& found : races_of([] {
         unsigned long long count = 0, read = 0;
         samples::read_a_count(&count, &read);
       })) {
    REQUIRE(!found.empty());  // the one that reads, those that come behind it, or both
    CHECK(contains(found.front(), "atomically"));
  }
}

TEST_CASE("atomic sums, neighbouring bytes and a block's own memory are no races", "[block_races]") {
  const std::uint32_t x[] = {1, 2, 3};
  for (const auto& found : races_of([&] {
         unsigned long long count = 0;
         std::uint8_t bytes[4]{};
         samples::race_for_nothing(&count, bytes, x);
         CHECK(count == 4);
         CHECK(bytes[3] == 5);
       }))
    CHECK(found.empty());
}

}  // namespace monomorph::emulator
