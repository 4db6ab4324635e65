#include "emulator/emulator.hpp"
#include "emulator/sample_kernels.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <bit>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace monomorph::emulator {
namespace {

constexpr int rows = 7;

std::vector<float> numbers() {
  std::vector<float> x(rows * samples::sum_threads);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(static_cast<float>(i)) * static_cast<float>(1 + i % 97);
  return x;
}

using SumRows = void (*)(const float*, float*, int);

/// The sums under each schedule.
std::vector<std::vector<float>> sums_by(SumRows sum_rows) {
  const std::vector<float> x = numbers();
  std::vector<std::vector<float>> by_schedule;
  for_each_schedule([&] {
    std::vector<float> sums(rows);
    sum_rows(x.data(), sums.data(), rows);
    by_schedule.push_back(sums);
  });
  return by_schedule;
}

bool all_equal(const std::vector<std::vector<float>>& by_schedule) {
  bool equal = true;
  for (const auto& sums : by_schedule) equal = equal && sums == by_schedule.front();
  return equal;
}

template <class F> std::string fault_of(F f) {
  try {
    f();
  } catch (const Fault& fault) {
    return fault.what();
  }
  return "none";
}
bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a sum over a block is the same in every schedule") {
  const auto by_schedule = sums_by(samples::sum_rows);
  CHECK(all_equal(by_schedule));
  const std::vector<float> x = numbers();
  for (int row = 0; row < rows; ++row) {
    const double expected =
        std::accumulate(x.data() + row * samples::sum_threads, x.data() + (row + 1) * samples::sum_threads, 0.0);
    CHECK(std::fabs(by_schedule[0][static_cast<std::size_t>(row)] - expected) < 1e-2);
  }
}

TEST_CASE("a barrier that is missing shows in some schedule") {
  CHECK_FALSE(all_equal(sums_by(samples::sum_rows_without_first_barrier)));
  CHECK_FALSE(all_equal(sums_by(samples::sum_rows_without_second_barrier)));
}

TEST_CASE("a barrier that not all threads reach is named") {
  for_each_schedule([] {
    const std::string fault = fault_of(samples::leave_before_barrier);
    CAPTURE(fault);
    CHECK(contains(fault, "a barrier that not all reach: thread (0, 0, 0) of block (0, 0, 0) waits in"));
    CHECK(contains(fault, "half_at_barrier"));
    CHECK(contains(fault, "sample_kernels.cu:"));
    CHECK(contains(fault, "thread (32, 0, 0), which has ended"));
  });
}

TEST_CASE("lanes that do not come to a shuffle are named") {
  for_each_schedule([] {
    const std::string fault = fault_of(samples::leave_before_shuffle);
    CAPTURE(fault);
    CHECK(contains(fault, "a meeting of lanes that not all reach"));
    CHECK(contains(fault, "shuffle_of_some"));
    CHECK(contains(fault, "come: thread (3, 0, 0), which has ended; thread (4, 0, 0), which has ended;"));
    CHECK_FALSE(contains(fault, "thread (5, 0, 0)"));
  });
}

TEST_CASE("a lane that asks one outside of the mask is named") {
  const std::string fault = fault_of(samples::ask_absent_lanes);
  CAPTURE(fault);
  CHECK(contains(fault, "lane 0 asks lane 16, which takes no part, in"));
}

TEST_CASE("after a fault the next kernel runs") {
  CHECK(fault_of(samples::leave_before_barrier) != "none");
  CHECK(all_equal(sums_by(samples::sum_rows)));
}

TEST_CASE("a ballot has a bit for each lane") {
  std::vector<std::uint32_t> odd(64), counts(64);
  for (std::uint32_t i = 0; i < 64; ++i) odd[i] = i * i + i / 3;
  for_each_schedule([&] {
    samples::count_odd(odd.data(), counts.data());
    for (std::uint32_t warp = 0; warp < 64; warp += 32) {
      std::uint32_t expected = 0;
      for (std::uint32_t i = warp; i < warp + 32; ++i) {
        CHECK(counts[i] == expected);
        expected += odd[i] % 2;
      }
    }
  });
}

TEST_CASE("integers are added up by all threads") {
  for_each_schedule([] {
    unsigned long long count = 0;
    samples::count_threads(&count);
    CHECK(count == 512);
  });
}

TEST_CASE("what a block has not written it reads as NaN, and never as another block left it") {
  for_each_schedule([] {
    std::vector<float> found(2, 0.0f);
    std::vector<std::uint32_t> found_in_dynamic(2);
    samples::read_unwritten(found.data(), found_in_dynamic.data());
    for (const std::size_t block : {0u, 1u}) {
      CHECK(std::isnan(found[block]));
      CHECK(found_in_dynamic[block] == 0xFFFF'FFFF);
    }
  });
}

TEST_CASE("a kernel that CUDA would not start is not started") {
  CHECK(monomorph::testing::error_of(samples::start_too_many) ==
        "[KERNEL-05] the GPU does not start a kernel (invalid configuration argument); see the driver's messages on "
        "that machine");
}

}  // namespace monomorph::emulator
