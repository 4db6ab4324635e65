// A run in fp16: its loss scale finds its place by steps that are skipped, which are no failures until it is at its
// minimum.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <cmath>

using namespace monomorph::testing;

namespace {

/// 2^39 at first; a few steps without a skipped one double the scale again.
const std::vector<std::string> scale_far_too_high{"run.steps=60", "loss_scale.initial=1e12",
                                                  "loss_scale.growth_steps=4", "failure.max_skipped_in_a_row=3",
                                                  "schedule.kind=constant"};

}  // namespace

TEST_CASE("a loss scale that is far too high is lowered by more skipped steps than may fail, then the run trains") {
  const Workplace place("tiny_gpt2_fp16");
  const ProcessResult result = place.train("run", scale_far_too_high);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  const auto loss = metric_values(place / "run", "loss"), skipped = metric_values(place / "run", "skipped"),
             scale = metric_values(place / "run", "loss_scale");
  std::int64_t lowering = 0;  // steps at the beginning
  while (skipped.contains(lowering + 1) && skipped.at(lowering + 1) == static_cast<double>(lowering + 1)) {
    ++lowering;
    CHECK(scale.at(lowering) == std::ldexp(1.0, 40 - static_cast<int>(lowering)));
    CHECK(std::isfinite(loss.at(lowering)));  // the scale is of gradients alone
  }
  CHECK(lowering > 3);
  REQUIRE(lowering < 40);
  CHECK(loss.at(60) < 0.8 * loss.at(lowering));
  // It grows until it is too high again, step by step.
  CHECK(scale.at(lowering + 5) == 2 * scale.at(lowering + 4));
  CHECK(skipped.at(60) > static_cast<double>(lowering));
  CHECK(skipped.at(60) < static_cast<double>(lowering) + 15);
}

TEST_CASE("a run whose gradients stay infinite at the lowest loss scale stops after the allowed number of skips") {
  const Workplace place("tiny_gpt2_fp16");
  // With this decay the weights overflow after some steps, whatever the scale. It is halved four times first.
  const ProcessResult result =
      place.train("run", {"run.steps=60", "optimizer.lr=100", "optimizer.weight_decay=10", "schedule.kind=constant",
                          "loss_scale.initial=1024", "loss_scale.minimum=64", "failure.max_skipped_in_a_row=4"});
  check_refusal(result, 1, {"[RUN-05]", "5 steps in a row", "optimizer.lr"});
  const auto skipped = metric_values(place / "run", "skipped"), scale = metric_values(place / "run", "loss_scale");
  const std::int64_t last = skipped.rbegin()->first;
  CHECK(skipped.at(last) == 4 + 5);
  CHECK(skipped.at(last - 9) == 0);
  CHECK(scale.at(last - 8) == 1024);
  CHECK(scale.at(last - 5) == 128);
  for (std::int64_t step = last - 4; step <= last; ++step) CHECK(scale.at(step) == 64);
}

TEST_CASE("a resumed fp16 run goes on with its loss scale and counters, to the same bits") {
  const Workplace place("tiny_gpt2_fp16");
  const auto with = [](std::vector<std::string> sets, const std::string& more) {
    sets.push_back(more);
    return sets;
  };
  REQUIRE(place.train("run", scale_far_too_high).exit_code == 0);
  const std::string expected = final_state(place / "run");
  // Saved while the scale falls, and between two steps that are counted until it grows.
  REQUIRE(
      place.train("saving", with(with(scale_far_too_high, "checkpoint.every=7"), "checkpoint.keep=all")).exit_code ==
      0);
  CHECK(final_state(place / "saving") == expected);
  for (const std::string step : {"07", "35"}) {
    CAPTURE(step);
    const std::string name = "from_" + step;
    const std::string checkpoint = "checkpoint.resume=" + place / "saving/checkpoints/step_000000" + step;
    REQUIRE(place.train(name, with(scale_far_too_high, checkpoint)).exit_code == 0);
    CHECK(final_state(place / name) == expected);
    const auto scale = metric(place / "run", "loss_scale");
    for (const auto& [after, value] : metric(place / name, "loss_scale")) CHECK(value == scale.at(after));
  }
}
