#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/train/inference/sampling.hpp>

#include <cmath>
#include <limits>
#include <map>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

constexpr float infinite = std::numeric_limits<float>::infinity();

/// How often each id is drawn, in 20,000 draws.
std::map<std::int32_t, double> frequencies(const SamplingSettings& settings, const std::vector<float>& logits) {
  constexpr int n = 20'000;
  Sampler sampler(settings);
  std::map<std::int32_t, double> counts;
  for (int i = 0; i < n; ++i) counts[sampler.draw(logits, i)] += 1.0 / n;
  return counts;
}

/// Probabilities 0.1, 0.4, 0.2, 0.3.
const std::vector<float> logits{std::log(0.1f), std::log(0.4f), std::log(0.2f), std::log(0.3f)};

}  // namespace

TEST_CASE("temperature 0 takes the most probable token, the lowest of equal ones") {
  Sampler greedy({.temperature = 0});
  CHECK(greedy.draw(logits, 0) == 1);
  CHECK(greedy.draw(std::vector<float>{1, 3, 3, 2}, 5) == 1);
  CHECK(greedy.draw(std::vector<float>{-infinite, -7}, 0) == 1);
}

TEST_CASE("tokens are drawn as often as they are probable") {
  const auto drawn = frequencies({.seed = 3}, logits);
  CHECK(drawn.at(0) == Approx(0.1).margin(0.01));  // five standard deviations of 20,000 draws
  CHECK(drawn.at(1) == Approx(0.4).margin(0.018));
  CHECK(drawn.at(2) == Approx(0.2).margin(0.015));
  CHECK(drawn.at(3) == Approx(0.3).margin(0.017));
}

TEST_CASE("the temperature divides the logits") {
  // At 0.5 the probabilities are squared and normalised: 0.01, 0.16, 0.04, 0.09 over 0.3.
  const auto drawn = frequencies({.temperature = 0.5, .seed = 4}, logits);
  CHECK(drawn.at(1) == Approx(0.16 / 0.3).margin(0.018));
  CHECK(drawn.at(0) == Approx(0.01 / 0.3).margin(0.007));
}

TEST_CASE("top k keeps the k most probable tokens") {
  const auto drawn = frequencies({.top_k = 2, .seed = 5}, logits);
  CHECK(drawn.size() == 2);
  CHECK(drawn.at(1) == Approx(0.4 / 0.7).margin(0.018));
  CHECK(drawn.at(3) == Approx(0.3 / 0.7).margin(0.018));
  CHECK(frequencies({.top_k = 1}, logits).at(1) == Approx(1));
  CHECK(frequencies({.top_k = 100}, logits).size() == 4);
}

TEST_CASE("top p keeps the fewest tokens that make up the probability") {
  CHECK(frequencies({.top_p = 0.39}, logits).size() == 1);
  const auto drawn = frequencies({.top_p = 0.69, .seed = 6}, logits);  // 0.4 is too little, 0.4 + 0.3 is enough
  CHECK(drawn.size() == 2);
  CHECK(drawn.at(1) == Approx(0.4 / 0.7).margin(0.018));
  CHECK(frequencies({.top_p = 1e-9}, logits).size() == 1);
}

TEST_CASE("a draw depends on seed and index alone") {
  Sampler one({.seed = 7}), other({.seed = 7}), third({.seed = 8});
  std::vector<std::int32_t> forwards, backwards(50), others;
  for (int i = 0; i < 50; ++i) forwards.push_back(one.draw(logits, i));
  for (int i = 49; i >= 0; --i) backwards[static_cast<std::size_t>(i)] = other.draw(logits, i);
  for (int i = 0; i < 50; ++i) others.push_back(third.draw(logits, i));
  CHECK(forwards == backwards);
  CHECK(forwards != others);
}

TEST_CASE("large and infinitely small logits do no harm") {
  CHECK(frequencies({}, {1e30f, -1e30f, -infinite}).at(0) == Approx(1));
  CHECK(frequencies({.temperature = 1e-6}, logits).at(1) == Approx(1));
  CHECK(frequencies({.temperature = 1e6, .seed = 1}, logits).size() == 4);
}

TEST_CASE("logits of a model that diverged are an error") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& broken :
       {std::vector<float>{1, nan, 2}, {nan, nan}, {1, infinite}, {-infinite, -infinite}})
    for (const double temperature : {0.0, 1.0}) {
      Sampler sampler({.temperature = temperature});
      CHECK(contains(error_of([&] { sampler.draw(broken, 0); }), "[RUN-14]"));
    }
}
