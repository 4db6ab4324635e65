// tiny_masked sees the whole row and predicts tokens that are hidden from it: a run from text to loss.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <string>

using namespace monomorph::testing;

namespace {

const std::vector<std::string> in_fixed_tree{"run.steps=6", "schedule.kind=constant", "batch.micro_batch=2",
                                             "batch.reduction=fixed_tree"};

std::string evaluation_of(const Workplace& place, const std::string& run, const Arguments& more = {}) {
  const ProcessResult result = place.run(with(Arguments{"evaluate", "--checkpoint", place / run}, more));
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return result.out;
}

}  // namespace

TEST_CASE("a run with masked tokens has the same bits if it is interrupted, and on several ranks") {
  const Workplace place("tiny_masked");
  REQUIRE(place.train("whole", in_fixed_tree).exit_code == 0);
  const auto losses = metric_values(place / "whole", "loss");
  CHECK(losses.at(6) < losses.at(1));
  REQUIRE(place.train("parted", with(in_fixed_tree, {"run.steps=3"})).exit_code == 0);
  REQUIRE(place.train("parted", with(in_fixed_tree, {"checkpoint.resume=auto"})).exit_code == 0);
  CHECK(final_state(place / "parted") == final_state(place / "whole"));
  for (const std::string ranks : {"2", "4"}) {
    REQUIRE(place.run(with(Arguments{"--ranks", ranks}, place.training("of_" + ranks, in_fixed_tree))).exit_code == 0);
    CHECK(final_state(place / ("of_" + ranks)) == final_state(place / "whole"));
    CHECK(metric(place / ("of_" + ranks), "evaluation_loss") == metric(place / "whole", "evaluation_loss"));
  }
}

TEST_CASE("evaluations of masked tokens select the same tokens, whatever the run's seed and the micro-batch") {
  const Workplace place("tiny_masked");
  REQUIRE(place.train("run", in_fixed_tree).exit_code == 0);
  REQUIRE(place.train("other", with(in_fixed_tree, {"run.seed=8"})).exit_code == 0);
  CHECK(metric(place / "run", "evaluation_tokens") == metric(place / "other", "evaluation_tokens"));
  CHECK(metric(place / "run", "evaluation_bits_per_byte").at(6) == "\"NaN\"");
  const std::string by_four = evaluation_of(place, "run", {"--micro-batch", "4"});
  CHECK(by_four.starts_with("loss "));
  CHECK_FALSE(contains(by_four, "bits per byte"));
  CHECK(evaluation_of(place, "run", {"--micro-batch", "3"}) == by_four);
  // As many as were counted in the run, of which 30 % of the held-out tokens.
  CHECK(contains(by_four, "(" + metric(place / "run", "evaluation_tokens").at(6) + " tokens)"));
}

TEST_CASE("what has no meaning with masked tokens is refused in a line, and describe says what is predicted") {
  const Workplace place("tiny_masked");
  REQUIRE(place.train("run", in_fixed_tree).exit_code == 0);
  check_refusal(place.run({"generate", "--checkpoint", place / "run", "--prompt", "First"}), 2,
                {"[RUN-25]", "predicts the next token", "tiny_masked"});
  check_refusal(place.train("separate", {"data.last_target=separate"}), 2, {"[DATA-65]", "data.last_target"});
  const std::string described = place.run({"describe"}).out;
  CHECK(contains(described, "MaskedTokens<512>"));
  CHECK(contains(described, "a token's target      itself, where the objective hides it"));
  CHECK(contains(place.run(with(Arguments{"check"}, place.training("checked"))).out, "held-out tokens that may be"));
  CHECK(contains(place.run({"schema"}).out, "mask_fraction"));
}
