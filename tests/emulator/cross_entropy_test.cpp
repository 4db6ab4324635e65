#include "emulator/emulator.hpp"
#include "support/catch.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace monomorph::emulator {
namespace {

using namespace monomorph::testing;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Given {
  Matrix logits;
  std::vector<std::int32_t> targets;
  std::int64_t vocab_size;
  double scale = 1;
  LossTerms terms = {};
  std::vector<double> weights = {};  ///< of gradients, by row; empty: 1
};

struct Results {
  std::vector<std::byte> loss, dlogits;
  LossSum sum;
  bool operator==(const Results& other) const {
    return loss == other.loss && dlogits == other.dlogits && sum.loss == other.sum.loss &&
           sum.tokens == other.sum.tokens;
  }
};

enum class Wants { loss, gradient, gradient_in_place };

View view_of(std::vector<std::byte>& bytes, DType dtype, std::int64_t rows, std::int64_t cols, std::int64_t gap) {
  bytes.assign(static_cast<std::size_t>(rows * (cols + gap) * size_of(dtype)), std::byte{0x55});
  return {bytes.data(), dtype, {rows, cols}, cols + gap};
}

/// What a device makes of the logits: the bytes of what it has written, gaps included.
template <class Queue>
Results run(Queue queue, const Given& given, DType dtype, DType gradient, Wants wants, std::int64_t gap) {
  const std::int64_t rows = given.logits.rows, cols = given.logits.cols;
  const Storage logits(given.logits, dtype, gap);
  Results results;
  const View loss = view_of(results.loss, statistics_dtype(dtype), rows, 1, 0);
  View in(const_cast<std::byte*>(logits.bytes().data()), dtype, {rows, cols}, cols + gap), out;
  if (wants == Wants::gradient) out = view_of(results.dlogits, gradient, rows, cols, gap);
  if (wants == Wants::gradient_in_place) out = in;
  results.sum = {.loss = 3, .tokens = 5};
  const Storage weights({1, std::ssize(given.weights), given.weights}, statistics_dtype(dtype));
  cross_entropy(queue,
                {in, given.targets.data(), given.vocab_size, loss, out, &given.scale, &results.sum,
                 given.weights.empty() ? View{} : weights.view()},
                given.terms);
  if (wants == Wants::gradient_in_place) results.dlogits = logits.bytes();
  return results;
}

std::vector<double> numbers(const std::vector<std::byte>& bytes, DType dtype) {
  std::vector<double> all;
  for (std::size_t i = 0; i < bytes.size(); i += static_cast<std::size_t>(size_of(dtype))) {
    const View one(const_cast<std::byte*>(bytes.data() + i), dtype, {1, 1});
    double value = 0;
    cpu::copy(cpu::Queue{}, one, View(reinterpret_cast<std::byte*>(&value), DType::fp64, {1, 1}));
    all.push_back(value);
  }
  return all;
}

/// Close to fp64 on the CPU: each loss, and each row of the gradient by its norm.
void check_close(const Given& given, const Results& actual, const Results& reference, DType dtype, DType gradient,
                 std::int64_t gap) {
  const double tolerance = dtype == DType::fp64 ? 1e-13 : 1e-6;
  const auto loss = numbers(actual.loss, statistics_dtype(dtype)), exact_loss = numbers(reference.loss, DType::fp64);
  for (std::size_t i = 0; i < loss.size(); ++i)
    CHECK(loss[i] == Approx(exact_loss[i]).epsilon(tolerance).margin(1e-12));
  CHECK(actual.sum.loss == Approx(reference.sum.loss).epsilon(tolerance));
  CHECK(actual.sum.tokens == reference.sum.tokens);
  const auto values = numbers(actual.dlogits, gradient), exact = numbers(reference.dlogits, DType::fp64);
  REQUIRE(values.size() == exact.size());
  const double rounding = gradient == DType::bf16 ? 0x1p-8 : gradient == DType::fp16 ? 0x1p-11 : 0;
  const double of_all = given.terms.label_smoothing / static_cast<double>(given.vocab_size);  // is subtracted, too
  const std::int64_t stride = given.logits.cols + gap;
  double worst = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (static_cast<std::int64_t>(i) % stride >= given.logits.cols) continue;
    const double least = gradient == DType::fp16 ? 1e-7 : 1e-37;  // subnormal numbers of fp16
    const auto row = static_cast<std::size_t>(static_cast<std::int64_t>(i) / stride);
    const bool of_target = static_cast<std::int64_t>(i) % stride == given.targets[row];  // a difference from 1
    const double allowed = (tolerance + rounding * 1.01) * std::fabs(exact[i]) + least +
                           tolerance * given.scale * (of_target ? 1 : 1e-6 + of_all);
    worst = std::max(worst, std::fabs(values[i] - exact[i]) / allowed);
  }
  CHECK(worst <= 1);
}

void check(const Given& given) {
  for (const DType dtype : {DType::fp32, DType::fp64, DType::bf16, DType::fp16})
    for (const DType gradient : {DType::fp32, DType::bf16, DType::fp16, DType::fp64})
      for (const std::int64_t gap : {0, 8, 3}) {
        if (gradient != dtype && (dtype != DType::fp32 || gradient == DType::fp64)) continue;
        CAPTURE(given.vocab_size, name_of(dtype), name_of(gradient), gap);
        // The logits as they are rounded, so that only the arithmetic differs.
        Given rounded = given;
        rounded.logits.values = Storage(given.logits, dtype).values();
        const Results reference = run(cpu::Queue{}, rounded, DType::fp64, DType::fp64, Wants::gradient, gap);
        const Results expected = run(cuda::Queue{}, given, dtype, gradient, Wants::gradient, gap);
        check_close(given, expected, reference, dtype, gradient, gap);
        for_each_schedule([&] {
          CHECK(run(cuda::Queue{}, given, dtype, gradient, Wants::gradient, gap) == expected);
          Results only_loss = run(cuda::Queue{}, given, dtype, gradient, Wants::loss, gap);
          only_loss.dlogits = expected.dlogits;
          CHECK(only_loss == expected);
          if (dtype == gradient) {
            const Results in_place = run(cuda::Queue{}, given, dtype, gradient, Wants::gradient_in_place, gap);
            CHECK(in_place.loss == expected.loss);
            if (gap == 0) CHECK(in_place.dlogits == expected.dlogits);
          }
        });
      }
}

Given random_case(std::int64_t rows, std::int64_t vocab_size, std::int64_t padding, double spread) {
  Given given{random_matrix(rows, vocab_size + padding, 1), {}, vocab_size};
  for (double& logit : given.logits.values) logit = logit * spread + 2;
  for (std::int64_t row = 0; row < rows; ++row)
    given.targets.push_back(row % 3 == 1 ? ignored_target : static_cast<std::int32_t>(row * 37 % vocab_size));
  return given;
}

}  // namespace

TEST_CASE("cross-entropy on a GPU is that of fp64", "[cross_entropy]") {
  check(random_case(4, 5, 3, 1));
  check(random_case(3, 16, 0, 3));
  check(random_case(5, 1000, 24, 1));
  check(random_case(2, 4099, 5, 4));
}

TEST_CASE("smoothed labels, z-loss and a scale on a GPU are those of fp64", "[cross_entropy]") {
  for (const LossTerms terms : {LossTerms{0.1, 0}, LossTerms{0, 1e-2}, LossTerms{0.2, 1e-4}}) {
    Given given = random_case(4, 333, 3, 1);
    given.scale = 1024;
    given.terms = terms;
    check(given);
  }
}

TEST_CASE("gradients on a GPU are weighed by token, and losses are not", "[cross_entropy]") {
  Given given = random_case(4, 333, 3, 1);
  given.scale = 16;
  given.weights = {0.5, 1, -1, 0};
  check(given);
}

TEST_CASE("a GPU's losses are small and exact where a model is sure", "[cross_entropy]") {
  Given given{filled(2, 64, -12), {7, 7}, 64};
  given.logits.values[7] = 9;
  given.logits.values[64 + 7] = 2;
  check(given);
}

TEST_CASE("logits of minus infinity have no probability, and others that are not finite come through",
          "[cross_entropy]") {
  for (const double special : {-infinity, infinity, std::numeric_limits<double>::quiet_NaN()})
    for (const bool first : {false, true}) {
      CAPTURE(special, first);
      Given given{random_matrix(1, 200, 1), {100}, 200};
      for (std::size_t i = 0; i < 99; ++i) given.logits.values[first ? i : 199 - i] = special;
      const Results cpu = run(cpu::Queue{}, given, DType::fp32, DType::fp32, Wants::gradient, 0);
      const Results gpu = run(cuda::Queue{}, given, DType::fp32, DType::fp32, Wants::gradient, 0);
      CHECK(std::isnan(gpu.sum.loss) == std::isnan(cpu.sum.loss));
      const auto values = numbers(gpu.dlogits, DType::fp32), expected = numbers(cpu.dlogits, DType::fp32);
      for (std::size_t i = 0; i < values.size(); ++i) {
        CHECK(std::isnan(values[i]) == std::isnan(expected[i]));
        CHECK((values[i] == 0) == (expected[i] == 0));
      }
    }
}

TEST_CASE("cross-entropy on a GPU takes no targets at all, and overwrites logits by their gradient",
          "[cross_entropy]") {
  CHECK(run(cuda::Queue{}, {shape_only(0, 16), {}, 16}, DType::fp32, DType::fp32, Wants::loss, 0).sum.tokens == 5);
  const Given unscaled_case = random_case(2, 16, 0, 1);
  const Storage logits(unscaled_case.logits, DType::fp32), loss(filled(2, 1, 7), DType::fp32);
  cuda::cross_entropy({}, {logits.view(), unscaled_case.targets.data(), 16, loss.view(), logits.view()});
  CHECK(logits.bytes() == run(cuda::Queue{}, unscaled_case, DType::fp32, DType::fp32, Wants::gradient, 0).dlogits);
}

TEST_CASE("a GPU gives gradients by logits in their dtype, or in 16 bits by fp32, and no others", "[cross_entropy]") {
  const Given given = random_case(2, 16, 0, 1);
  for (const auto& [of_logits, of_gradient] :
       {std::pair{DType::fp32, DType::fp64}, {DType::fp64, DType::fp32}, {DType::fp64, DType::bf16}}) {
    CAPTURE(name_of(of_logits), name_of(of_gradient));
    const Storage logits(given.logits, of_logits), loss(filled(2, 1, 7), of_logits),
        gradient(given.logits, of_gradient);
    CHECK_THROWS_AS(cuda::cross_entropy({}, {logits.view(), given.targets.data(), 16, loss.view(), gradient.view()}),
                    std::logic_error);
  }
}

TEST_CASE("of logits of 16 bits a GPU gives losses of fp32 and gradients of their dtype, and no others",
          "[cross_entropy]") {
  const Given given = random_case(2, 16, 0, 1);
  for (const auto& [of_loss, of_gradient] :
       {std::pair{DType::bf16, DType::bf16}, {DType::fp32, DType::fp32}, {DType::fp32, DType::fp16}}) {
    CAPTURE(name_of(of_loss), name_of(of_gradient));
    const Storage logits(given.logits, DType::bf16), loss(filled(2, 1, 7), of_loss),
        gradient(given.logits, of_gradient);
    CHECK_THROWS_AS(cuda::cross_entropy({}, {logits.view(), given.targets.data(), 16, loss.view(), gradient.view()}),
                    std::logic_error);
  }
}

}  // namespace monomorph::emulator
