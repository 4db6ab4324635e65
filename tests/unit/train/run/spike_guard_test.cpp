#include "train/run/spike_guard.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace monomorph;
using namespace monomorph::train;

namespace {

/// Mean and variance by their definition, with the weight that each number has in the end.
struct Weighted {
  double mean = 0, variance = 0;
  Weighted(const std::vector<double>& values, std::int64_t window) {
    std::vector<double> weights;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double newest = 1 / std::min(static_cast<double>(i + 1), static_cast<double>(window));
      for (double& weight : weights) weight *= 1 - newest;
      weights.push_back(newest);
    }
    for (std::size_t i = 0; i < values.size(); ++i) mean += weights[i] * values[i];
    for (std::size_t i = 0; i < values.size(); ++i) variance += weights[i] * (values[i] - mean) * (values[i] - mean);
  }
};

SpikeGuard guard(SpikeAction action = SpikeAction::skip) {
  SpikeHparams hparams;
  hparams.action.value = action;
  hparams.sigmas.value = 3;
  hparams.window.value = 8;
  return SpikeGuard(hparams);
}

StepOutcome outcome_of(double mean_loss, double norm) {
  StepOutcome outcome;
  outcome.loss = 10 * mean_loss;
  outcome.tokens = 10;
  outcome.gradient_norm = norm;
  return outcome;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("running moments are the weighted mean and variance of what came", "[spikes]") {
  std::vector<double> values;
  RunningMoments moments;
  for (int i = 0; i < 40; ++i) {
    values.push_back(5 + std::sin(1.7 * i) - 0.05 * i);
    moments.add(values.back(), 12);
    const Weighted expected(values, 12);
    CHECK(moments.mean == Approx(expected.mean));
    CHECK(moments.variance == Approx(expected.variance).margin(1e-12));
    CHECK(moments.above(2) == Approx(expected.mean + 2 * std::sqrt(expected.variance)));
  }
}

TEST_CASE("limits begin with half a window and lie so many deviations above the mean", "[spikes]") {
  SpikeLevels levels;
  std::vector<double> losses;
  for (int i = 0; i < 6; ++i) {
    StepSettings settings;
    guard().set_limits(levels, settings);
    if (i < 4) {
      CHECK(settings.most_loss == infinity);
      CHECK(settings.most_gradient_norm == infinity);
    } else {
      const Weighted known(losses, 8);
      CHECK(settings.most_loss == Approx(known.mean + 3 * std::sqrt(known.variance)));
      CHECK(settings.most_gradient_norm == Approx(2 * settings.most_loss));
    }
    losses.push_back(3 + std::cos(2.3 * i));
    guard().add(outcome_of(losses.back(), 2 * losses.back()), levels);
  }
}

TEST_CASE("of a spike its limit counts, and of what is no number nothing", "[spikes]") {
  SpikeLevels levels, with_limit;
  for (int i = 0; i < 8; ++i)
    for (SpikeLevels* each : {&levels, &with_limit})
      guard().add(outcome_of(3 + 0.1 * (i % 2), 1 + 0.1 * (i % 2)), *each);
  StepSettings settings;
  guard().set_limits(levels, settings);
  guard().add(outcome_of(1e9, 1e12), levels);
  guard().add(outcome_of(settings.most_loss, settings.most_gradient_norm), with_limit);
  CHECK(levels.loss == with_limit.loss);
  CHECK(levels.gradient_norm == with_limit.gradient_norm);
  guard().add(outcome_of(3, std::numeric_limits<double>::quiet_NaN()), levels);
  guard().add(outcome_of(3, infinity), levels);
  guard().add({}, levels);
  CHECK(levels.loss == with_limit.loss);
}

TEST_CASE("a run that does nothing about spikes has no limits and counts nothing", "[spikes]") {
  SpikeLevels levels;
  for (int i = 0; i < 20; ++i) guard(SpikeAction::none).add(outcome_of(3 + i % 2, 1), levels);
  CHECK(levels.loss.count == 0);
  StepSettings settings;
  guard(SpikeAction::none).set_limits(levels, settings);
  CHECK(settings.most_loss == infinity);
}
