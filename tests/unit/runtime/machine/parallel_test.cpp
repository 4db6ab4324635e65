#include <c10/util/Half.h>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/machine/parallel.hpp>
#include <thread>
#include <vector>
#include "support/catch.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

using namespace monomorph;
using namespace monomorph::testing;

TEST_CASE("each task runs once, with any number of threads", "[parallel]") {
  for (const int threads : {1, 2, 3, 7}) {
    for (const std::int64_t n : {0, 1, 2, 5, 1000}) {
      CAPTURE(threads, n);
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(n)), runs_of_unequal(static_cast<std::size_t>(n));
      with_threads(threads, [&] {
        CHECK(compute_threads() == threads);
        parallel_for(n, [&](std::int64_t i) { ++runs[static_cast<std::size_t>(i)]; });
        parallel_tasks(n, [&](std::int64_t i) { ++runs_of_unequal[static_cast<std::size_t>(i)]; });
      });
      for (const auto& count : runs) CHECK(count == 1);
      for (const auto& count : runs_of_unequal) CHECK(count == 1);
    }
  }
}

TEST_CASE("tasks run on several threads, and one inside another runs on its own", "[parallel]") {
  with_threads(3, [] {
    std::thread::id outer[3], inner[3][4];
    parallel_for(3, [&](std::int64_t i) {
      outer[i] = std::this_thread::get_id();
      parallel_for(4, [&](std::int64_t j) { inner[i][j] = std::this_thread::get_id(); });
    });
    CHECK(outer[0] != outer[1]);
    CHECK(outer[1] != outer[2]);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 4; ++j) CHECK(inner[i][j] == outer[i]);
    }
  });
}

TEST_CASE("a long task keeps one thread, and the others do the rest", "[parallel]") {
  constexpr std::int64_t n = 8;
  with_threads(2, [] {
    std::thread::id done_by[n];
    std::atomic<std::int64_t> n_short = 0;
    parallel_tasks(n, [&](std::int64_t i) {
      done_by[i] = std::this_thread::get_id();
      if (i == 0)
        while (n_short < n - 1) std::this_thread::yield();  // for ever, if one of the others waited for this one
      else
        ++n_short;
    });
    for (std::int64_t i = 1; i < n; ++i) CHECK(done_by[i] != done_by[0]);
  });
}

TEST_CASE("tasks of several threads run on their own inside, of unequal lengths too", "[parallel]") {
  with_threads(3, [] {
    std::thread::id outer[6], inner[6][4];
    parallel_tasks(6, [&](std::int64_t i) {
      outer[i] = std::this_thread::get_id();
      parallel_tasks(4, [&](std::int64_t j) { inner[i][j] = std::this_thread::get_id(); });
    });
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 4; ++j) CHECK(inner[i][j] == outer[i]);
  });
}

TEST_CASE("copies convert and round to nearest even", "[elementwise]") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  // Between 1 and 2 a bf16 number is a multiple of 2^-7: halves go to the even one.
  const Matrix exact{1,
                     8,
                     {1 + 0x1p-8, 1 + 3 * 0x1p-8, 1 + 0x1p-8 + 0x1p-20, -(1 + 0x1p-8), 3.4e38, infinity, nan, 1e-45}};
  const Values expected{1, 1 + 0x1p-6, 1 + 0x1p-7, -1, infinity, infinity, 0, 0};
  for_each_isa([&](const char* isa) {
    CAPTURE(isa);
    const Storage from(exact, DType::fp32), to(filled(1, 8, 9), DType::bf16);
    cpu::copy(cpu::Queue{}, from.view(), to.view());
    const Values actual = to.values();
    for (const std::size_t i : {0u, 1u, 2u, 3u, 4u, 5u, 7u}) CHECK(actual[i] == expected[i]);
    CHECK(std::isnan(actual[6]));
  });
}

TEST_CASE("copy, add and zero touch all of a view and nothing else", "[elementwise]") {
  for (const auto& [rows, cols] : {std::pair<std::int64_t, std::int64_t>{1, 1}, {3, 65}, {40, 1030}, {2, 40'000}}) {
    CAPTURE(rows, cols);
    const Matrix x = random_matrix(rows, cols, 1), y = random_matrix(rows, cols, 2);
    Matrix sum = x;
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += y.values[i];
    check(
        {{{x}}, {{x}, {sum, Role::activation, y.values}, {filled(rows, cols, 0)}}, [](const auto& in, const auto& out) {
           cpu::copy(cpu::Queue{}, in[0], out[0]);
           cpu::add(cpu::Queue{}, in[0], out[1]);
           cpu::zero(cpu::Queue{}, out[2]);
         }});
  }
}

TEST_CASE("fp16 is widened exactly and rounded to nearest even, as LibTorch does it: all of its numbers",
          "[elementwise]") {
  constexpr std::int64_t n = 1 << 16;
  std::vector<c10::Half> halves(n);
  std::vector<float> between(n);  // each number and the next: the middle, and on both sides of it
  for (std::int64_t i = 0; i < n; ++i) halves[i] = c10::Half(static_cast<std::uint16_t>(i), c10::Half::from_bits());
  const auto view = [](auto& values, DType dtype) {
    return View(reinterpret_cast<std::byte*>(values.data()), dtype, {1, std::ssize(values)});
  };
  const auto same = [](float a, float b) { return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b); };
  for_each_isa([&](const char* isa) {
    CAPTURE(isa);
    std::vector<float> floats(n);
    cpu::copy(cpu::Queue{}, view(halves, DType::fp16), view(floats, DType::fp32));
    std::int64_t n_wrong = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const float expected = halves[i];
      n_wrong += std::isnan(expected) ? !std::isnan(floats[i]) : !same(floats[i], expected);
    }
    CHECK(n_wrong == 0);

    for (const float towards : {0.0f, -1e30f, 1e30f}) {
      for (std::int64_t i = 0; i + 1 < n; ++i) {
        const float middle = (static_cast<float>(halves[i]) + static_cast<float>(halves[i + 1])) / 2;
        between[i] = towards == 0 ? middle : std::nextafter(middle, towards);
      }
      std::vector<c10::Half> rounded(n);
      cpu::copy(cpu::Queue{}, view(between, DType::fp32), view(rounded, DType::fp16));
      for (std::int64_t i = 0; i + 1 < n; ++i) {
        const c10::Half expected(between[i]);
        n_wrong += std::isnan(between[i]) ? !std::isnan(static_cast<float>(rounded[i])) : rounded[i].x != expected.x;
      }
      CHECK(n_wrong == 0);
    }
  });
}
