#include <monomorph/runtime/cuda/kernels.hpp>
#include "emulator/emulator.hpp"
#include "emulator/sample_kernels.hpp"
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

TEST_CASE("updates and norms race for nothing") {
  constexpr std::int64_t n = 64 * 5;
  std::vector<float> gradient(n, 1), master(n, 2), moments(2 * n, 3);
  std::vector<std::uint16_t> narrow_master(n), narrow_moments(2 * n);
  const auto view = [](auto& x, DType dtype, std::int64_t first) {
    return View(reinterpret_cast<std::byte*>(x.data() + first), dtype, {1, n});
  };
  const UpdateDecision decision;
  const View g = view(gradient, DType::fp32, 0);
  PartialGradientNorm norm;
  CHECK(races_of([&] {
          cuda::adamw({},
                      {g, view(master, DType::fp32, 0), {view(moments, DType::fp32, 0), view(moments, DType::fp32, n)}},
                      {1e-2, 0.9, 0.95, 1e-8, 0.1}, {.decision = &decision});
          cuda::adamw({},
                      {g,
                       view(narrow_master, DType::bf16, 0),
                       {view(narrow_moments, DType::bf16, 0), view(narrow_moments, DType::bf16, n)}},
                      {1e-2, 0.9, 0.95, 1e-8, 0.1}, {.decision = &decision});
          cuda::add_to_norm({}, g, GradientNorm::two, &norm);
          cuda::add_to_norm({}, g, GradientNorm::infinity, &norm);
        }) == 0);
}

TEST_CASE("the ends of a decoder race for nothing") {
  constexpr std::int64_t rows = 4, columns = 136;
  std::vector<float> x(rows * columns, 1), table(rows * columns, 2), loss(rows);
  const std::vector<std::int32_t> ids{3, 1, 3, 3};
  const auto view = [](std::vector<float>& data) {
    return View(reinterpret_cast<std::byte*>(data.data()), DType::fp32,
                {rows, static_cast<std::int64_t>(data.size()) / rows});
  };
  LossSum sum;
  CHECK(races_of([&] {
          cuda::embedding({}, ids.data(), view(table), view(table), rows, 0, view(x));
          cuda::embedding_backward({}, ids.data(), view(x), view(table), false);
          cuda::position_embedding_backward({}, view(x), 2, view(table), true);
          cuda::cross_entropy({},
                              {.logits_CV = view(x),
                               .targets_C = ids.data(),
                               .vocab_size = columns - 3,
                               .loss_C = view(loss),
                               .dlogits_CV = view(x),
                               .sum = &sum},
                              {.label_smoothing = 0.1, .z_loss = 1e-4});
        }) == 0);
}

}  // namespace monomorph::emulator
