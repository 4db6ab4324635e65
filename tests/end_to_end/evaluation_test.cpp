#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

using namespace monomorph::testing;

TEST_CASE("held-out sets are evaluated by name, and the best checkpoint is that of one of them") {
  const Workplace place("tiny_gpt2");
  const std::string held_out = place / "held_out.pbin", train = place / "train.pbin";
  const std::vector<std::string> sets{"evaluation.every=6", "evaluation.batches=1"};
  REQUIRE(place.train("one", sets).exit_code == 0);
  const std::string both = R"(data.evaluation={"unseen": ")" + held_out + R"(", "seen": ")" + train + "\"}";
  const ProcessResult training =
      place.train("two", with(sets, {both, "checkpoint.keep_best=true", "checkpoint.best_by=seen"}));
  INFO(training.err);
  REQUIRE(training.exit_code == 0);
  CHECK(contains(training.out, "evaluation of unseen after step 6: loss"));
  CHECK(contains(training.out, "evaluation of seen after step 12: loss"));
  for (const std::string name : {"loss", "perplexity", "bits_per_byte", "tokens"})
    CHECK(metric(place / "two", "evaluation_" + name + ".unseen") == metric(place / "one", "evaluation_" + name));
  CHECK(metric(place / "two", "loss") == metric(place / "one", "loss"));
  CHECK(metric(place / "two", "evaluation_loss").empty());

  const auto best = nlohmann::json::parse(read_bytes(place / "two/checkpoints/step_00000012/metadata.json"));
  CHECK(best.at("counters").at("lowest_evaluation_loss.seen").get<double>() ==
        metric_values(place / "two", "evaluation_loss.seen").at(12));
  const auto run = nlohmann::json::parse(read_bytes(place / "two/run.json"));
  CHECK(run.at("data").at("evaluation").at("seen").at("path") == train);

  check_refusal(place.train("none", {"checkpoint.best_metric=accuracy"}), 2,
                {"[HPARAM-23]", "\"accuracy\"", "loss, perplexity, bits_per_byte"});

  const auto evaluate = [&](const Arguments& more) {
    return place.run(with(Arguments{"evaluate", "--checkpoint", place / "two"}, more));
  };
  const std::string by_name = evaluate({}).out;
  CHECK((by_name.starts_with("seen: loss ") && contains(by_name, "\nunseen: loss ")));
  const std::string alone = evaluate({"--data", held_out}).out;
  CHECK(alone.starts_with("loss "));
  const std::size_t second = by_name.find("unseen: ");
  CHECK(by_name.substr(second) == "unseen: " + alone);
  CHECK(evaluate({"--data", "a=" + train, "--data", "b=" + held_out}).out ==
        "a: " + by_name.substr(6, second - 6) + "b: " + alone);
  check_refusal(evaluate({"--data", train, "--data", held_out}), 2, {"[EVAL-01]", "NAME=FILE"});
  check_refusal(evaluate({"--data", "a=" + train, "--data", "a=" + held_out}), 2, {"[EVAL-01]", "held_out.pbin"});
  check_refusal(evaluate({"--data", "a=" + place / "nowhere.pbin"}), 2, {"[FILE-01]", "nowhere.pbin", "(--data.a)"});
}
