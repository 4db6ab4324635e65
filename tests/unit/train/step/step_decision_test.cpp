#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "train/step/loss_scale.hpp"
#include "train/step/step_settings.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/kernels/step_scalars.hpp>
#include <monomorph/runtime/machine/queue.hpp>

#include <cmath>
#include <limits>

using namespace monomorph;
using namespace monomorph::train;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

ClipHparams with_clip(ClipMode mode, double threshold) {
  ClipHparams clip;
  clip.mode.value = mode;
  clip.threshold.value = threshold;
  return clip;
}

/// A step alone on its rank.
struct Decided {
  StepScalars scalars;
  StepOutcome outcome{};

  void decide(const StepSettings& settings) {
    const auto communicator = one_rank();
    StepDecision decision(*communicator, &scalars, {});
    const Ticket ticket = decision.note(settings);
    decision.give(cpu::Queue{});
    outcome = decision.read(cpu::Queue{}, ticket);
  }
};

/// Of the sum over 100 tokens each norm is 600.
StepScalars norm_6_of_mean(GradientNorm order) {
  StepScalars scalars;
  scalars.tokens = 100;
  scalars.gradient_norm.sum.add(order == GradientNorm::one ? 600 : 360'000);
  scalars.gradient_norm.greatest = 600;
  return scalars;
}
Decided clipped(ClipMode mode, double threshold) {
  const StepSettings settings = step_settings(with_clip(mode, threshold), {});
  Decided step{norm_6_of_mean(settings.norm)};
  step.decide(settings);
  return step;
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
    CHECK(step_settings(with_clip(mode, 1.5), {}).norm == order);
    const Decided down = clipped(mode, 1.5);
    CHECK(down.outcome.applied);
    CHECK(down.outcome.gradient_norm == Approx(6));
    CHECK(down.scalars.decision.gradient_scale == Approx(0.25 / 100));
    CHECK(down.outcome.gradient_scale == Approx(1.0 / 100));
    CHECK(clipped(mode, 7).scalars.decision.gradient_scale == Approx(1.0 / 100));
    CHECK(update_settings(with_clip(mode, 1.5), {}, 1).clip_value == infinity);
  }
}

TEST_CASE("clipping by value, logging only, and neither leave the norm alone") {
  for (const ClipMode mode : {ClipMode::value, ClipMode::log_only, ClipMode::none}) {
    const Decided step = clipped(mode, 0.5);
    CHECK(step.outcome.gradient_norm == Approx(6));
    CHECK(step.scalars.decision.gradient_scale == Approx(0.01));
    CHECK(update_settings(with_clip(mode, 0.5), {}, 1).clip_value == (mode == ClipMode::value ? 0.5 : infinity));
  }
}

TEST_CASE("a step with more loss or a greater norm than the settings allow is a spike, which changes nothing") {
  const auto decided = [](double most_loss, double most_norm) {
    Decided step{norm_6_of_mean(GradientNorm::two)};
    step.scalars.loss.add(350);  // 3.5 a token
    step.scalars.updates = 4;
    step.scalars.loss_scale = {1, 5};
    StepSettings settings;
    settings.most_loss = most_loss;
    settings.most_gradient_norm = most_norm;
    settings.loss_scaling = {.is_dynamic = true, .minimum = 1, .growth_steps = 100};
    step.decide(settings);
    return step;
  };
  for (const auto& [most_loss, most_norm] : {std::pair{3.4, infinity}, {infinity, 5.9}, {3.4, 5.9}}) {
    const Decided spike = decided(most_loss, most_norm);
    CHECK(spike.outcome.spiked);
    CHECK_FALSE(spike.outcome.applied);
    CHECK_FALSE(spike.scalars.decision.applies);
    CHECK(spike.scalars.updates == 4);
    CHECK(spike.outcome.next_loss_scale == LossScale{1, 6});  // the gradients were finite
  }
  const Decided usual = decided(3.6, 6.1);
  CHECK_FALSE(usual.outcome.spiked);
  CHECK(usual.outcome.applied);
}

TEST_CASE("gradients that are not finite are not applied, in every clipping mode") {
  for (const ClipMode mode :
       {ClipMode::none, ClipMode::norm_1, ClipMode::norm_2, ClipMode::norm_inf, ClipMode::value, ClipMode::log_only})
    for (const double term : {infinity, std::numeric_limits<double>::quiet_NaN()}) {
      Decided step;
      step.scalars.tokens = 100;
      step.scalars.updates = 4;
      step.scalars.gradient_norm.sum.add(term);
      step.scalars.gradient_norm.greatest = term;
      step.decide(step_settings(with_clip(mode, 1), {}));
      CHECK_FALSE(step.outcome.applied);
      CHECK_FALSE(step.scalars.decision.applies);
      CHECK(step.scalars.updates == 4);
    }
}

TEST_CASE("a step of which nothing is counted is not applied, and says nothing about the loss scale") {
  Decided step;
  step.scalars.loss_scale = {8, 1};
  step.decide({.loss_scaling = {.is_dynamic = true, .growth_steps = 2}});
  CHECK_FALSE(step.outcome.applied);
  CHECK(step.outcome.next_loss_scale == LossScale{8, 1});
}

TEST_CASE("updates are counted, the loss scale is taken out of the gradients, and the next one follows") {
  Decided step{norm_6_of_mean(GradientNorm::two)};
  step.scalars.updates = 6;
  step.scalars.loss_scale = {4, 1};
  step.decide({.loss_scaling = {.is_dynamic = true, .growth_steps = 2}});
  CHECK(step.scalars.decision.update == 7);
  CHECK(step.outcome.gradient_norm == Approx(1.5));
  CHECK(step.scalars.decision.gradient_scale == Approx(0.01 / 4));
  CHECK(step.outcome.next_loss_scale == LossScale{8, 0});
  CHECK(step.scalars.loss_scale == LossScale{8, 0});
}

TEST_CASE("gradients of zero are no reason to divide by it") {
  Decided step;
  step.scalars.tokens = 100;
  step.decide(step_settings(with_clip(ClipMode::norm_2, 1), {}));
  CHECK(step.outcome.applied);
  CHECK(step.outcome.gradient_norm == 0);
  CHECK(step.scalars.decision.gradient_scale == Approx(0.01));
}

TEST_CASE("the outcome of the step before is still there when another one is decided") {
  const auto communicator = one_rank();
  StepScalars scalars;
  StepDecision decision(*communicator, &scalars, {});
  const cpu::Queue queue;
  scalars.tokens = 1;
  const Ticket first = decision.note({});
  decision.give(queue);
  scalars.tokens = 2;
  const Ticket second = decision.note({.stops = true});
  decision.give(queue);
  CHECK(decision.read(queue, first).tokens == 1);
  CHECK(decision.read(queue, second).tokens == 2);
  CHECK(decision.read(queue, second).stops);
  CHECK_FALSE(decision.read(queue, first).stops);
}

TEST_CASE("the optimiser gets the rate of the schedule, and one that is not finite or below 0 is named") {
  const UpdateSettings settings = update_settings({}, {.times = 3, .over = 4}, 2);
  CHECK(settings.rate_times == 3);
  CHECK(settings.rate_over == 4);
  CHECK(update_settings({}, {.times = 0}, 7).rate_times == 0);
  for (const double times : {std::nan(""), infinity, -0.5}) {
    const std::string refusal = monomorph::testing::error_of([&] { update_settings({}, {.times = times}, 7); });
    CHECK(refusal.starts_with("[RUN-24]"));
    CHECK(monomorph::testing::contains(refusal, "in step 7"));
  }
}
