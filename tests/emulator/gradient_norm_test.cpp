#include "emulator/emulator.hpp"
#include "support/catch.hpp"
#include "support/generic_arithmetic.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include "runtime/cuda/sums/divide_by_norm.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace monomorph::emulator {
namespace {

using namespace monomorph::testing;

constexpr GradientNorm orders[] = {GradientNorm::one, GradientNorm::two, GradientNorm::infinity};
constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// The norm so far and what lies there of it, as bits.
std::vector<std::int64_t> state_of(PartialGradientNorm norm) {
  const auto words = norm.sum.normalized_words();
  std::vector<std::int64_t> state(words.begin(), words.end());
  state.push_back(std::bit_cast<std::int64_t>(norm.greatest));
  return state;
}

/// Of a gradient that joins one of the CPU's.
template <class Queue> std::vector<std::int64_t> norm_of(Queue queue, const View& x, GradientNorm order) {
  const Storage earlier(random_matrix(1, 64, 9), DType::fp32);
  PartialGradientNorm norm;
  cpu::add_to_norm(cpu::Queue{}, earlier.view(), order, &norm);
  add_to_norm(queue, x, order, &norm);
  return state_of(norm);
}

void check_bits(const View& x) {
  const GenericArithmetic arithmetic;
  for (const GradientNorm order : orders) {
    CAPTURE(static_cast<int>(order));
    const std::vector<std::int64_t> expected = norm_of(cpu::Queue{}, x, order);
    for_each_schedule([&] { CHECK(norm_of(cuda::Queue{}, x, order) == expected); });
  }
}

/// Of sizes that differ by up to 2^600, so that limbs change.
Matrix wild_matrix(std::int64_t n, int spread) {
  Matrix x = random_matrix(1, n, 3);
  for (std::size_t i = 0; i < x.values.size(); ++i)
    x.values[i] = std::ldexp(x.values[i], static_cast<int>(i / 64 * 37) % (spread + 1) - spread / 2);
  return x;
}

}  // namespace

TEST_CASE("norms of gradients on a GPU have the bits of the CPU", "[gradient_norm]") {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64, DType::fp16})
    for (const std::int64_t n : {47, 64, 64 * 70 + 40})
      for (const std::int64_t skipped : {0, 1}) {
        CAPTURE(name_of(dtype), n, skipped);
        const Storage x(random_matrix(1, n + 1, 1), dtype);
        check_bits(x.view().columns(skipped, n));
      }
}

TEST_CASE("norms of gradients of many sizes have the bits of the CPU", "[gradient_norm]") {
  check_bits(Storage(wild_matrix(64 * 90, 100), DType::fp32).view());
  check_bits(Storage(wild_matrix(64 * 90, 600), DType::fp64).view());
  check_bits(Storage(filled(1, 640, 0), DType::fp32).view());
}

TEST_CASE("an infinity and a NaN come through in every norm", "[gradient_norm]") {
  for (const double special : {infinity, -infinity, nan, -nan})
    for (const std::size_t at : {63u, 64u * 70u + 9u}) {
      CAPTURE(special, at);
      Matrix x = random_matrix(1, 64 * 70 + 10, 1);
      x.values[at] = special;
      check_bits(Storage(x, DType::fp32).view());
    }
}

TEST_CASE("the norm of a gradient that takes blocks several turns has the bits of the CPU", "[gradient_norm]") {
  const GenericArithmetic arithmetic;
  const Storage x(random_matrix(1, 64 * 64 * 600 + 9, 1), DType::bf16);
  for (const GradientNorm order : {GradientNorm::two, GradientNorm::infinity})
    CHECK(norm_of(cuda::Queue{}, x.view(), order) == norm_of(cpu::Queue{}, x.view(), order));
}

TEST_CASE("a matrix divided by its norm has the bits of the CPU", "[gradient_norm]") {
  const GenericArithmetic arithmetic;
  constexpr double least_norm = 1e-7;
  const auto check = [&](const Matrix& matrix, DType from, DType to) {
    CAPTURE(name_of(from), name_of(to), matrix.rows, matrix.cols);
    const Storage x(matrix, from), expected(filled(matrix.rows, matrix.cols, 7), to);
    const double norm = std::sqrt(cpu::sum_of_squares({}, x.view()).value());
    cpu::scale({}, x.view(), 1 / std::max(norm, least_norm), expected.view());
    for_each_schedule([&] {
      const Storage actual(filled(matrix.rows, matrix.cols, 7), to);
      cuda::divide_by_norm({}, x.view(), least_norm, actual.view());
      CHECK((actual.bytes() == expected.bytes()));
    });
  };
  for (const DType from : {DType::fp32, DType::bf16, DType::fp64})
    for (const DType to : {DType::fp32, DType::fp64, DType::bf16}) {
      check(random_matrix(3, 5, 1), from, to);
      check(random_matrix(70, 65, 2), from, to);
      check(filled(4, 16, 0), from, to);
      check(filled(4, 16, 1e-9), from, to);  // whose norm is below the least one
      check(filled(4, 16, nan), from, to);
    }
}

TEST_CASE("an empty gradient leaves a norm as it is", "[gradient_norm]") {
  PartialGradientNorm norm;
  norm.greatest = 3;
  for (const GradientNorm order : orders) cuda::add_to_norm({}, View{}, order, &norm);
  cuda::divide_by_norm({}, View{}, 1, View{});
  CHECK(norm.greatest == 3);
  CHECK(norm.sum.value() == 0);
}

}  // namespace monomorph::emulator
