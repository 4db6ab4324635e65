#include <algorithm>
#include <cmath>
#include <monomorph/runtime/kernels/random.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace random_test {

using namespace monomorph;
using namespace monomorph::testing;
using random::Purpose;
using random::Stream;

namespace {

Values drawn(DType dtype, std::int64_t n, const Stream& stream, std::uint64_t first, double std, double cutoff = 0) {
  const Storage x(filled(1, n, 0), dtype);
  random::normal(x.view(), stream, first, std, cutoff);
  return x.values();
}

struct Moments {
  double mean = 0, deviation = 0, kurtosis = 0;
};
Moments moments(const Values& values) {
  Moments result;
  const auto n = static_cast<double>(values.size());
  for (const double value : values) result.mean += value / n;
  for (const double value : values) result.deviation += (value - result.mean) * (value - result.mean) / n;
  for (const double value : values) result.kurtosis += std::pow(value - result.mean, 4) / n;
  result.kurtosis /= result.deviation * result.deviation;
  result.deviation = std::sqrt(result.deviation);
  return result;
}
/// The greatest distance of the sample's distribution function from `below` (Kolmogorov and Smirnov).
template <class F> double distance(Values values, F below) {
  std::sort(values.begin(), values.end());
  double greatest = 0;
  const auto n = static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto share = static_cast<double>(i) / n;
    greatest = std::max({greatest, std::fabs(below(values[i]) - share), std::fabs(below(values[i]) - share - 1 / n)});
  }
  return greatest;
}
double normal_below(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
constexpr Stream stream{42, Purpose::initialization, 3, 1};
}  // namespace

TEST_CASE("Philox gives the published numbers", "[random]") {
  using Words = std::array<std::uint32_t, 4>;
  CHECK(random::philox({0, 0, 0, 0}, {0, 0}) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  constexpr std::uint32_t all = 0xffffffff;
  CHECK(random::philox({all, all, all, all}, {all, all}) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(random::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("normal numbers are normal", "[random]") {
  constexpr std::int64_t n = 200'000;
  const Values values = drawn(DType::fp64, n, stream, 0, 1);
  const Moments m = moments(values);
  CHECK(m.mean == Approx(0).margin(0.01));
  CHECK(m.deviation == Approx(1).margin(0.006));
  CHECK(m.kurtosis == Approx(3).margin(0.04));
  CHECK(distance(values, normal_below) < 1.63 / std::sqrt(n));  // 1 %
  // Neighbours are not correlated.
  double product = 0;
  for (std::size_t i = 1; i < values.size(); ++i) product += values[i] * values[i - 1] / n;
  CHECK(product == Approx(0).margin(0.01));
}

TEST_CASE("truncated normal numbers end at the cutoff and have the right distribution", "[random]") {
  constexpr std::int64_t n = 100'000;
  for (const double cutoff : {0.5, 2.0, 3.0}) {
    const Values values = drawn(DType::fp64, n, stream, 0, 1, cutoff);
    for (const double value : values) CHECK(std::fabs(value) <= cutoff);
    const double least = normal_below(-cutoff);
    CHECK(distance(values, [&](double x) { return (normal_below(x) - least) / (1 - 2 * least); }) <
          1.63 / std::sqrt(n));
  }
  const Values wide = drawn(DType::fp64, 1000, stream, 0, 0.02, 3);
  CHECK(moments(wide).deviation == Approx(0.02 * 0.9866).epsilon(0.1));
}

TEST_CASE("an element does not depend on which others are drawn, nor on threads", "[random]") {
  const Values all = drawn(DType::fp32, 40'000, stream, 0, 0.02);
  for (const std::uint64_t first : {1u, 63u, 17'001u}) {
    const Values part = drawn(DType::fp32, 301, stream, first, 0.02);
    CHECK(std::equal(part.begin(), part.end(), all.begin() + static_cast<std::ptrdiff_t>(first)));
  }
  for (const int threads : {1, 3}) {
    with_threads(threads, [&] { CHECK(drawn(DType::fp32, 40'000, stream, 0, 0.02) == all); });
  }
}

TEST_CASE("streams differ in each of their names", "[random]") {
  const Values first = drawn(DType::fp64, 100, stream, 0, 1);
  for (Stream other :
       {Stream{43, stream.purpose, 3, 1}, Stream{42 + (std::uint64_t{1} << 32), stream.purpose, 3, 1},
        Stream{42, Purpose::sampling, 3, 1}, Stream{42, stream.purpose, 4, 1}, Stream{42, stream.purpose, 3, 2}}) {
    const Values second = drawn(DType::fp64, 100, other, 0, 1);
    for (std::size_t i = 0; i < 100; ++i) CHECK(first[i] != second[i]);
    CHECK(random::uniform(other, 0) != random::uniform(stream, 0));
  }
}

TEST_CASE("numbers are rounded to the view's dtype", "[random]") {
  const Values exact = drawn(DType::fp64, 1000, stream, 0, 1), half = drawn(DType::bf16, 1000, stream, 0, 1);
  const Values single = drawn(DType::fp32, 1000, stream, 0, 1);
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(single[i] == rounded(exact[i], DType::fp32));
    CHECK(half[i] == rounded(exact[i], DType::bf16));
  }
}

TEST_CASE("fill fills", "[random]") {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::fp64}) {
    const Storage x(filled(7, 100, 0), dtype);
    random::fill(x.view(), 0.5);
    CHECK(x.values() == Values(700, 0.5));
  }
}

TEST_CASE("uniform numbers are uniform, and each can be drawn alone", "[random]") {
  constexpr std::uint64_t n = 100'000;
  Values values;
  for (std::uint64_t i = 0; i < n; ++i) values.push_back(random::uniform(stream, i));
  for (const double value : values) CHECK((value >= 0 && value < 1));
  CHECK(distance(values, [](double x) { return x; }) < 1.63 / std::sqrt(n));
  CHECK(random::uniform(stream, 777) == values[777]);
  CHECK(random::uniform(stream, std::uint64_t{1} << 60) != random::uniform(stream, 0));
}

}  // namespace random_test
