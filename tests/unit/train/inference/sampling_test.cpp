#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/train/inference/sampling.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
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

SamplingSettings settings_of(const nlohmann::json& json) {
  SamplingSettings settings{.temperature = json.value("temperature", 1.0),
                            .top_p = json.value("top_p", 1.0),
                            .min_p = json.value("min_p", 0.0),
                            .repetition_penalty = json.value("repetition_penalty", 1.0),
                            .frequency_penalty = json.value("frequency_penalty", 0.0),
                            .presence_penalty = json.value("presence_penalty", 0.0)};
  if (json.contains("top_k")) settings.top_k = json["top_k"].get<std::int64_t>();
  for (const auto& pair : json.value("logit_bias", nlohmann::json::array()))
    settings.logit_bias.push_back({pair[0].get<std::int32_t>(), pair[1].get<double>()});
  return settings;
}

}  // namespace

TEST_CASE("what may be drawn, and how often, is what transformers' processors make of the logits") {
  std::ifstream file(MONOMORPH_SOURCE_DIR "/tests/fixtures/sampling/sampling.json");
  const auto cases = nlohmann::json::parse(file);
  CHECK(cases.size() == 20);
  for (const auto& one : cases) {
    CAPTURE(one["settings"].dump());
    SamplingSettings settings = settings_of(one["settings"]);
    Sampler sampler(settings);
    sampler.read_prompt(one["prompt"].get<std::vector<std::int32_t>>());
    const auto given = one["logits"].get<std::vector<float>>();
    for (const auto& id : one["text"]) sampler.count(id.get<std::int32_t>());
    std::vector<double> probabilities(given.size());
    double before = 2;
    for (const Candidate& candidate : sampler.candidates(given)) {
      CHECK(candidate.probability <= before);
      probabilities[static_cast<std::size_t>(candidate.id)] = before = candidate.probability;
    }
    const auto expected = one["probabilities"].get<std::vector<double>>();
    for (std::size_t id = 0; id < expected.size(); ++id)
      CHECK(probabilities[id] == Approx(expected[id]).epsilon(1e-12));
  }
}

TEST_CASE("penalties count what was drawn") {
  const std::vector<float> equal(3, 1);
  Sampler never_again({.temperature = 0, .presence_penalty = 1});
  CHECK(never_again.draw(equal, 0) == 0);
  CHECK(never_again.draw(equal, 1) == 1);
  CHECK(never_again.draw(equal, 2) == 2);
  CHECK(never_again.draw(equal, 3) == 0);
  Sampler with_prompt({.temperature = 0, .repetition_penalty = 2});
  with_prompt.read_prompt(std::vector<std::int32_t>{0, 1, 70});
  CHECK(with_prompt.draw(equal, 0) == 2);
  Sampler biased({.temperature = 0, .logit_bias = {{0, -100}, {70, 100}}});
  CHECK(biased.draw(equal, 0) == 1);
}

TEST_CASE("texts of one seed have draws of their own") {
  const auto text = [](TextNumber number) {
    Sampler sampler({.seed = 7}, number);
    std::vector<std::int32_t> ids;
    for (int i = 0; i < 50; ++i) ids.push_back(sampler.draw(logits, i));
    return ids;
  };
  CHECK(text({0, 0}) == text({}));
  CHECK(text({0, 1}) != text({0, 0}));
  CHECK(text({1, 0}) != text({0, 0}));
  CHECK(text({1, 0}) != text({0, 1}));
}

TEST_CASE("draws far down the list of a large vocabulary are as probable as others") {
  const std::vector<float> equal(1000, 0);
  const auto drawn = frequencies({.seed = 9}, equal);
  double low = 0;
  for (const auto& [id, frequency] : drawn) low += id < 500 ? frequency : 0;
  CHECK(low == Approx(0.5).margin(0.018));
  CHECK(drawn.size() > 990);
}

TEST_CASE("what has no probability is never drawn, nor what a bias takes it from") {
  const SamplingSettings settings{.temperature = 1e6, .top_k = 3, .logit_bias = {{0, -infinite}}, .seed = 2};
  const auto drawn = frequencies(settings, {1e30f, 1, -infinite, 2});
  CHECK(drawn.size() == 2);
  CHECK(drawn.at(1) == Approx(0.5).margin(0.02));
  Sampler sampler({.temperature = 0, .repetition_penalty = 2, .logit_bias = {{1, -infinite}}});
  sampler.read_prompt(std::vector<std::int32_t>{1});
  CHECK(sampler.draw(logits, 0) == 3);
}

TEST_CASE("log-probabilities are the model's own") {
  const auto found = log_probabilities(logits, 4, 2, 2);
  REQUIRE(found.size() == 3);
  CHECK(found[0].id == 2);
  CHECK(found[0].probability == Approx(std::log(0.2)).epsilon(1e-6));
  CHECK(found[1].id == 1);
  CHECK(found[1].probability == Approx(std::log(0.4)).epsilon(1e-6));
  CHECK(found[2].id == 3);
  CHECK(log_probabilities(logits, 4, 2, 0).size() == 1);
  CHECK(log_probabilities(logits, 4, 2, 100).size() == 5);
  // Ids without tokens have their part in the sum, and are not told.
  const auto named = log_probabilities(logits, 3, 2, 100);
  CHECK(named.size() == 4);
  CHECK(named[0].probability == found[0].probability);
  CHECK(named[1].probability == found[1].probability);
}

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
