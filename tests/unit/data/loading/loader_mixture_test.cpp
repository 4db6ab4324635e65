#include "unit/data/data_test_support.hpp"

#include <monomorph/data/loading/mixture.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace monomorph::data;

namespace {

/// Weights of one order, of several, or small whole numbers, which often have windows that end together.
std::vector<double> random_weights(std::mt19937_64& random, std::size_t n_sets) {
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto kind = random() % 3;
  std::vector<double> weights(n_sets);
  for (double& weight : weights)
    weight = kind == 0   ? uniform(random) + 1e-3
             : kind == 1 ? std::pow(10, -4 * uniform(random))
                         : static_cast<double>(1 + random() % 4);
  return weights;
}

std::size_t random_size(std::mt19937_64& random) { return random() % 10 == 0 ? 1 + random() % 60 : 1 + random() % 8; }

}  // namespace

TEST_CASE("After any number of samples every set of a mixture has its share to within one sample") {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::vector<double> weights = random_weights(random, random_size(random));
    double sum = 0;
    for (const double weight : weights) sum += weight;
    const Mixture mixture(weights);
    Mixture::Cursor cursor(mixture, 0);
    std::vector<std::int64_t> counts(weights.size());
    double furthest = 0;
    bool in_order = true;
    for (std::int64_t n = 1; n <= 400; ++n) {
      const Mixture::Place place = cursor.next();
      in_order = in_order && place.index == counts[place.set]++;
      for (std::size_t set = 0; set < weights.size(); ++set)
        furthest = std::max(furthest,
                            std::abs(static_cast<double>(n) * weights[set] / sum - static_cast<double>(counts[set])));
    }
    REQUIRE(in_order);
    REQUIRE(furthest < 1 + 1e-9);
  }
}

TEST_CASE("A mixture goes on from any sample as if it had begun at the first") {
  std::mt19937_64 random(12);
  for (int trial = 0; trial < 2000; ++trial) {
    const Mixture mixture(random_weights(random, random_size(random)));
    Mixture::Cursor whole(mixture, 0);
    const auto skipped = static_cast<std::int64_t>(random() % 1000);
    for (std::int64_t n = 0; n < skipped; ++n) whole.next();
    Mixture::Cursor begun(mixture, skipped);
    bool equal = true;
    for (std::size_t set = 0; set < mixture.n_sets(); ++set) equal = equal && whole.count(set) == begun.count(set);
    for (int n = 0; n < 20; ++n) {
      const Mixture::Place a = whole.next(), b = begun.next();
      equal = equal && a.set == b.set && a.index == b.index;
    }
    REQUIRE(equal);
  }
}

TEST_CASE("Far into a run shares are still exact") {
  std::mt19937_64 random(13);
  for (int trial = 0; trial < 300; ++trial) {
    const Mixture mixture(random_weights(random, 2 + random() % 6));
    const auto n = static_cast<std::int64_t>(random() % (std::int64_t{1} << 40));
    const std::vector<std::int64_t> counts = mixture.counts(n);
    std::int64_t sum = 0;
    for (std::size_t set = 0; set < counts.size(); ++set) {
      sum += counts[set];
      // The share in double precision is itself up to 2^40 / 2^52 samples off.
      CHECK(std::abs(static_cast<double>(n) * mixture.share(set) - static_cast<double>(counts[set])) < 1.01);
    }
    REQUIRE(sum == n);
    Mixture::Cursor cursor(mixture, n);
    const Mixture::Place place = cursor.next();
    CHECK(place.index == counts[place.set]);
    CHECK(mixture.counts(n + 1)[place.set] == place.index + 1);
  }
}

TEST_CASE("A mixture by hand: 1 to 1 to 2, and a set alone") {
  const Mixture mixture(std::vector<double>{1, 1, 2});
  Mixture::Cursor cursor(mixture, 0);
  // Windows: set 0 and 1 have [0, 4), [4, 8); set 2 has [0, 2), [2, 4). Of windows that end together the first set's.
  std::vector<std::size_t> sets;
  for (int n = 0; n < 8; ++n) sets.push_back(cursor.next().set);
  CHECK(sets == std::vector<std::size_t>{2, 0, 1, 2, 2, 0, 1, 2});
  CHECK(mixture.counts(8) == std::vector<std::int64_t>{2, 2, 4});
  CHECK(mixture.share(2) == 0.5);

  const Mixture alone(std::vector<double>{0.3});
  CHECK(alone.share(0) == 1);
  CHECK(alone.counts(std::int64_t{1} << 40) == std::vector<std::int64_t>{std::int64_t{1} << 40});
  Mixture::Cursor single(alone, 7);
  CHECK(single.next().index == 7);
}

TEST_CASE("Weights that no mixture can have are refused") {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& weights : {std::vector<double>{},
                                             {0},
                                             {1, 0},
                                             {1, -1},
                                             {-1, -1},
                                             {1, nan},
                                             {1, infinity},
                                             {1, 1e-7},
                                             {1e300, 1e-300},
                                             {1e308, 1e308}}) {
    const std::string error = error_of([&] { Mixture unused(weights); });
    CAPTURE(error);
    CHECK(contains(error, "[DATA-64]"));
  }
  CHECK(error_of([] { Mixture unused(std::vector<double>(256, 1.0)); }).empty());
  CHECK(contains(error_of([] { Mixture unused(std::vector<double>(257, 1.0)); }), "[DATA-64]"));
}
