// What compares sequences, against trl's trainer (tests/fixtures/preferences).
#include <fstream>
#include <monomorph/runtime/kernels/sequences.hpp>
#include <nlohmann/json.hpp>
#include "kernel_case.hpp"
#include "support/catch.hpp"

namespace preference_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

/// A pair as a sample: a token that does not count before each answer, and one of padding.
struct Sample {
  Values losses;
  std::vector<std::int32_t> targets, starts;
  std::int64_t rejected_from;
  Sample(const Values& chosen, const Values& rejected) : rejected_from(std::ssize(chosen) + 1) {
    for (const Values* answer : {&chosen, &rejected}) {
      const std::int64_t start = std::ssize(losses);
      add(5, ignored_target, start);
      for (const double log_probability : *answer) add(-log_probability, 3, start);
    }
    add(7, ignored_target, std::ssize(losses));
  }

 private:
  void add(double loss, std::int32_t target, std::int64_t start) {
    losses.push_back(loss);
    targets.push_back(target);
    starts.push_back(static_cast<std::int32_t>(start));
  }
};

PreferenceTerms terms_of(const nlohmann::json& pair) {
  return {.kind = pair.at("kind") == "squared" ? PreferenceLoss::squared : PreferenceLoss::sigmoid,
          .beta = pair.at("beta"),
          .label_smoothing = pair.at("label_smoothing")};
}

void check_close(double actual, double expected) { CHECK(actual == Approx(expected).epsilon(1e-12).margin(1e-13)); }

}  // namespace

TEST_CASE("losses, rewards and gradients of preferences are those of another implementation", "[preference]") {
  std::ifstream file(MONOMORPH_SOURCE_DIR "/tests/fixtures/preferences/pairs.json");
  const nlohmann::json fixture = nlohmann::json::parse(file);
  REQUIRE(fixture.at("pairs").size() == 21);
  for (const nlohmann::json& pair : fixture.at("pairs")) {
    CAPTURE(pair.at("kind"), pair.at("beta"), pair.at("chosen").size());
    const Values chosen = pair.at("chosen"), rejected = pair.at("rejected"), references = pair.at("references");
    const Sample sample(chosen, rejected);
    const std::int64_t T = std::ssize(sample.losses);
    const Storage losses({1, T, sample.losses}, DType::fp64), weights(filled(1, T, 9), DType::fp64);
    const Storage log_probabilities(filled(1, 2, 9), DType::fp64);
    LossSum sum{.loss = 1, .tokens = 2};
    cpu::preference_loss({},
                         {.loss_M = losses.view(),
                          .targets_M = sample.targets.data(),
                          .document_starts_M = sample.starts.data(),
                          .tokens = T,
                          .sequences = 2,
                          .reference_BK = references.data(),
                          .log_probability_BK = log_probabilities.view(),
                          .weight_M = weights.view(),
                          .sum = &sum},
                         terms_of(pair));
    check_close(sum.loss - 1, pair.at("loss"));
    CHECK(sum.tokens == 3);
    check_close(sum.metrics[0], pair.at("accuracy"));
    check_close(sum.metrics[1], pair.at("margin"));
    check_close(sum.metrics[2], pair.at("chosen_reward"));
    check_close(sum.metrics[3], pair.at("rejected_reward"));
    const Values chosen_gradient = pair.at("chosen_gradient"), rejected_gradient = pair.at("rejected_gradient");
    Values expected(static_cast<std::size_t>(T));  // of cross-entropies: less the log-probabilities'
    for (std::size_t i = 0; i < chosen.size(); ++i) expected[1 + i] = -chosen_gradient[i];
    for (std::size_t i = 0; i < rejected.size(); ++i)
      expected[static_cast<std::size_t>(sample.rejected_from) + 1 + i] = -rejected_gradient[i];
    const Values actual = weights.values();
    for (std::size_t i = 0; i < expected.size(); ++i) check_close(actual[i], expected[i]);
  }
}

TEST_CASE("a pair that is far apart has a finite loss, and a pull or none", "[preference]") {
  for (const double far : {-2000.0, 2000.0}) {
    const Sample sample({-1 + far}, {-1});
    const Storage losses({1, std::ssize(sample.losses), sample.losses}, DType::fp64),
        weights(filled(1, std::ssize(sample.losses), 9), DType::fp64), scores(filled(1, 2, 9), DType::fp64);
    const std::vector<double> references{-1, -1};
    LossSum sum;
    cpu::preference_loss({},
                         {.loss_M = losses.view(),
                          .targets_M = sample.targets.data(),
                          .document_starts_M = sample.starts.data(),
                          .tokens = std::ssize(sample.losses),
                          .sequences = 2,
                          .reference_BK = references.data(),
                          .log_probability_BK = scores.view(),
                          .weight_M = weights.view(),
                          .sum = &sum},
                         {.beta = 1});
    CHECK(sum.loss == Approx(far < 0 ? 2000 : 0).margin(1e-12));
    CHECK(weights.values()[1] == Approx(far < 0 ? 1 : 0).margin(1e-12));
    CHECK(scores.values() == Values{-1 + far, -1});
  }
}

}  // namespace preference_test
