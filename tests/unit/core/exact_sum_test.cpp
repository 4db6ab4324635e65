#include <monomorph/core/exact_sum.hpp>

#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using monomorph::ExactSum;
constexpr double infinity = std::numeric_limits<double>::infinity();

double sum_of(const std::vector<double>& values) {
  ExactSum sum;
  for (const double value : values) sum.add(value);
  return sum.value();
}

/// Of every magnitude that a double can have, subnormal numbers among them.
std::vector<double> wild_numbers(std::size_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> exponent(-1074, 1000);
  std::normal_distribution<double> mantissa;
  std::vector<double> numbers(n);
  for (double& number : numbers) number = std::ldexp(mantissa(random), exponent(random));
  return numbers;
}

}  // namespace

TEST_CASE("one number comes back as it is") {
  for (const double x : {0.0, 1.0, -1.0, 0.1, -1e300, 1e-300, std::numeric_limits<double>::denorm_min(),
                         -std::numeric_limits<double>::min(), std::numeric_limits<double>::max()})
    CHECK(sum_of({x}) == x);
  for (const double x : wild_numbers(10'000, 1)) REQUIRE(sum_of({x}) == x);
}

TEST_CASE("a sum of integers is exact where doubles are not") {
  CHECK(sum_of({1e16, 1, -1e16}) == 1);
  CHECK(sum_of({1e300, 1e-300, -1e300}) == 1e-300);
  CHECK(sum_of(std::vector<double>(1000, 0.1)) == 100.00000000000000555);  // 1000 times the double nearest to 0.1
}

TEST_CASE("a sum is rounded once, to the nearest, ties to even") {
  const double ulp = std::ldexp(1.0, -52);
  CHECK(sum_of({1, ulp / 2}) == 1);                      // a tie: to even
  CHECK(sum_of({1 + ulp, ulp / 2}) == 1 + 2 * ulp);      // a tie: to even, upwards
  CHECK(sum_of({1, ulp / 2, 1e-300}) == 1 + ulp);        // above the tie by what lies far below
  CHECK(sum_of({-1, -ulp / 2, -1e-300}) == -(1 + ulp));  // the same below zero
  CHECK(sum_of({1, ulp / 2, -1e-300}) == 1);             // below the tie
}

TEST_CASE("neither order nor grouping shows, and rounding errors are those of one operation") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::vector<double> numbers = wild_numbers(500, seed);
    const double expected = sum_of(numbers);
    // Against long double, in which the largest terms decide.
    long double reference = 0;
    std::ranges::sort(numbers, [](double a, double b) { return std::fabs(a) < std::fabs(b); });
    for (const double number : numbers) reference += number;
    CHECK(expected == Approx(static_cast<double>(reference)).epsilon(1e-12));
    for (int parts = 1; parts <= 7; ++parts) {
      std::ranges::shuffle(numbers, std::mt19937_64(seed + parts));
      std::vector<ExactSum> sums(parts);
      for (std::size_t i = 0; i < numbers.size(); ++i) sums[i % parts].add(numbers[i]);
      ExactSum all;
      for (const ExactSum& sum : sums) all.add(sum);
      REQUIRE(all.value() == expected);
      // As ranks add them up: word by word.
      std::vector<std::int64_t> words(ExactSum::n_words);
      for (ExactSum& sum : sums) {
        const auto own = sum.normalized_words();
        for (int i = 0; i < ExactSum::n_words; ++i) words[i] += own[i];
      }
      REQUIRE(ExactSum(std::span<const std::int64_t, ExactSum::n_words>(words)).value() == expected);
    }
  }
}

TEST_CASE("what is no finite number is told apart") {
  CHECK(std::isnan(sum_of({1, std::numeric_limits<double>::quiet_NaN(), infinity})));
  CHECK(sum_of({1, infinity, -5}) == infinity);
  CHECK(std::isnan(sum_of({infinity, -infinity})));
  CHECK(sum_of({std::numeric_limits<double>::max(), std::numeric_limits<double>::max()}) == infinity);
  CHECK(sum_of({}) == 0);
}

TEST_CASE("what a number adds to limbs is the number") {
  for (const double x : wild_numbers(1000, 3)) {
    const ExactSum::Term term = ExactSum::term_of(x);
    std::vector<std::int64_t> words(ExactSum::n_words);
    for (int i = 0; i < 3; ++i) words[static_cast<std::size_t>(term.limb + i)] = term.parts[i];
    ExactSum sum;
    sum.add(1);
    sum.add_words(words.data());
    sum.add(-1);
    REQUIRE(sum.value() == x);
  }
}

TEST_CASE("a sum can be made by the compiler") {
  constexpr double sum = [] {
    ExactSum terms, more;
    terms.add(1e16);
    terms.add(1);
    more.add(-1e16);
    terms.add(more);
    return terms.value();
  }();
  static_assert(sum == 1);
  CHECK(ExactSum::is_finite(sum));
  CHECK_FALSE(ExactSum::is_finite(-infinity));
}
