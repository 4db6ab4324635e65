#include "emulator/emulator.hpp"
#include "emulator/sample_kernels.hpp"
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include "support/catch.hpp"

#include <vector>

namespace {
int reports = 0;
}
/// ThreadSanitizer calls it for each race that it finds, and prints what it found besides.
extern "C" void __tsan_on_report(void*) { ++reports; }
/// A race that is expected must not fail the program, and kernels get the same memory one after the other.
extern "C" const char* __tsan_default_options() { return "exitcode=0:suppress_equal_addresses=0"; }

namespace monomorph::emulator {
namespace {

template <class F> int races_of(F f) {
  const int before = reports;
  for_each_schedule(f);
  return reports - before;
}

void sum(void (*sum_rows)(const float*, float*, int)) {
  constexpr int rows = 5;
  const std::vector<float> x(rows * samples::sum_threads, 1.0f);
  std::vector<float> sums(rows);
  sum_rows(x.data(), sums.data(), rows);
}

}  // namespace

TEST_CASE("threads that meet at barriers race for nothing") {
  CHECK(races_of([] { sum(samples::sum_rows); }) == 0);
}

TEST_CASE("a barrier that is missing is a race, whatever the results are") {
  CHECK(races_of([] { sum(samples::sum_rows_without_first_barrier); }) > 0);
  CHECK(races_of([] { sum(samples::sum_rows_without_second_barrier); }) > 0);
}

TEST_CASE("kernels race for nothing") {
  constexpr std::int64_t n = 64 * 9 + 5;
  std::vector<float> a(n, 1), b(n, 2);
  const auto view = [](std::vector<float>& x) {
    return View(reinterpret_cast<std::byte*>(x.data()), DType::fp32, {1, n});
  };
  const View parts[] = {view(a), view(b), view(a)};
  CHECK(races_of([&] {
          cuda::add({}, view(a), view(b));
          cuda::copy({}, view(a), view(b));
          cuda::zero({}, view(a));
          cuda::pairwise_sum({}, parts, view(a), true);
        }) == 0);
}

}  // namespace monomorph::emulator
