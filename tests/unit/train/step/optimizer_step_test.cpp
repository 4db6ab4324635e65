#include "train/step/optimizer_step.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/recorded_step.hpp"

#include <cmath>
#include <limits>

namespace {

using namespace monomorph::train;
using monomorph::testing::RecordedStep;

/// Of the sum over 100 tokens the norm is 600.
const GlobalStepStats norm_6_of_mean{.tokens = 100, .gradient_norm = 600};
constexpr double infinity = std::numeric_limits<double>::infinity();

OptimizerHparams with_clip(ClipMode mode, double threshold) {
  OptimizerHparams hparams;
  hparams.clip.mode.value = mode;
  hparams.clip.threshold.value = threshold;
  return hparams;
}

}  // namespace

TEST_CASE("a norm above the threshold scales the gradients down to it, by the mean over the tokens") {
  struct Case {
    ClipMode mode;
    GradientNorm order;
  };
  for (const auto& [mode, order] : {Case{ClipMode::norm_1, GradientNorm::one},
                                    {ClipMode::norm_2, GradientNorm::two},
                                    {ClipMode::norm_inf, GradientNorm::infinity}}) {
    RecordedStep step;
    const auto clipped = optimizer_step(step, with_clip(mode, 1.5), {}, norm_6_of_mean, 1);
    CHECK(norm_order(mode) == order);
    CHECK(clipped.applied);
    CHECK(clipped.grad_norm.value() == Approx(6));
    REQUIRE(step.updates.size() == 1);
    CHECK(step.updates[0].gradient_scale == Approx(0.25 / 100));
    CHECK(step.updates[0].clip_value == infinity);

    optimizer_step(step, with_clip(mode, 7), {}, norm_6_of_mean, 1);
    CHECK(step.updates.back().gradient_scale == Approx(1.0 / 100));
  }
}

TEST_CASE("clipping by value, logging only, and neither leave the norm alone") {
  RecordedStep step;
  CHECK(optimizer_step(step, with_clip(ClipMode::value, 0.5), {}, norm_6_of_mean, 1).grad_norm.value() == Approx(6));
  CHECK(step.updates.back().clip_value == 0.5);
  CHECK(step.updates.back().gradient_scale == Approx(0.01));
  CHECK(optimizer_step(step, with_clip(ClipMode::log_only, 0.5), {}, norm_6_of_mean, 1).grad_norm.value() == Approx(6));
  CHECK(step.updates.back().clip_value == infinity);
  CHECK(step.updates.back().gradient_scale == Approx(0.01));
  CHECK_FALSE(optimizer_step(step, with_clip(ClipMode::none, 0.5), {}, norm_6_of_mean, 1).grad_norm.has_value());
  CHECK(step.updates.back().gradient_scale == Approx(0.01));
  CHECK(step.updates.size() == 3);
}

TEST_CASE("gradients that are not finite change nothing, in every clipping mode") {
  for (const ClipMode mode :
       {ClipMode::none, ClipMode::norm_1, ClipMode::norm_2, ClipMode::norm_inf, ClipMode::value, ClipMode::log_only})
    for (const double norm : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
      RecordedStep step;
      CHECK_FALSE(optimizer_step(step, with_clip(mode, 1), {}, {.tokens = 100, .gradient_norm = norm}, 1).applied);
      CHECK(step.updates.empty());
    }
}

TEST_CASE("the optimiser gets the schedule and the number of this update") {
  RecordedStep step;
  optimizer_step(step, {}, {.times = 3, .over = 4}, {.tokens = 10, .gradient_norm = 1}, 2);
  CHECK(step.updates.at(0).rate(0.02) == 0.015);
  CHECK(step.updates.at(0).update == 2);
}

TEST_CASE("gradients of zero are no reason to divide by it") {
  RecordedStep step;
  const auto result = optimizer_step(step, with_clip(ClipMode::norm_2, 1), {}, {.tokens = 100}, 1);
  CHECK(result.applied);
  CHECK(result.grad_norm.value() == 0);
  CHECK(step.updates.at(0).gradient_scale == Approx(0.01));
}

TEST_CASE("a rate that is not finite or below 0 changes nothing, and is named") {
  RecordedStep step;
  for (const double times : {std::nan(""), infinity, -0.5}) {
    const std::string refusal = monomorph::testing::error_of(
        [&] { optimizer_step(step, with_clip(ClipMode::none, 1), {.times = times}, norm_6_of_mean, 7); });
    CHECK(refusal.starts_with("[RUN-24]"));
    CHECK(monomorph::testing::contains(refusal, "in update 7"));
  }
  CHECK(step.updates.empty());
  optimizer_step(step, with_clip(ClipMode::none, 1), {.times = 0}, norm_6_of_mean, 7);
  CHECK(step.updates.size() == 1);
}
