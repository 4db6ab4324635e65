// From pairs of answers to a model that prefers what was chosen: on Shakespeare's lines, of which the chosen answer is
// the line as it stands, and the rejected one has its words in the opposite order.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>

using namespace monomorph::testing;

namespace {

using Json = nlohmann::json;

std::string words_reversed(const std::string& line) {
  std::istringstream words(line);
  std::string reversed;
  for (std::string word; words >> word;) reversed = word + (reversed.empty() ? "" : " ") + reversed;
  return reversed;
}

/// A workplace whose text is also there as pairs of answers, and a model that has read it.
struct Preferring : Workplace {
  explicit Preferring(const std::string& recipe) : Workplace(recipe) {
    for (const std::string part : {"train", "held_out"}) {
      std::istringstream lines(read_bytes(*this / (part + ".txt")));
      std::string records;
      for (std::string line; std::getline(lines, line);)
        if (words_reversed(line) != line)
          records += Json{{"prompt", ""}, {"chosen", line}, {"rejected", words_reversed(line)}}.dump() + "\n";
      write_bytes(*this / (part + ".jsonl"), records);
      succeed(run_program("monomorph-data",
                          {"preferences", *this / (part + ".jsonl"), "--tokenizer", *this / "tokenizer.json",
                           "--sequence-length", "32", "--output", *this / (part + "_pairs.pbin")}));
    }
    succeed(run_program("tiny_documents", {"--hparams", hparams_file("base"), "--set", "run.steps=60", "--set",
                                           "schedule.kind=constant"}));
  }
  static void succeed(const ProcessResult& result) {
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
  }
  std::vector<std::string> sets(const std::vector<std::string>& more = {}) const {
    return with(std::vector<std::string>{"weights.from=" + *this / "base", "data.train=" + *this / "train_pairs.pbin",
                                         "data.evaluation=" + *this / "held_out_pairs.pbin", "run.steps=40",
                                         "schedule.kind=constant", "optimizer.lr=0.001"},
                more);
  }
  ProcessResult reference(const std::vector<std::string>& more = {}) const {
    return run(with(Arguments{"reference"}, training("run", sets(more))));
  }
};

double measured(const std::string& evaluation, const std::string& name) {
  const std::size_t at = evaluation.find(name + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(evaluation.substr(at + name.size() + 1));
}

void check_learns(const std::string& recipe) {
  const Preferring place(recipe);
  const ProcessResult scored = place.reference();
  INFO(scored.err);
  REQUIRE(scored.exit_code == 0);
  CHECK((contains(scored.out, "train_pairs.reference") && contains(scored.out, "held_out_pairs.reference")));
  const std::vector<std::string> keeping{"evaluation.every=8", "checkpoint.keep=1", "checkpoint.keep_best=true",
                                         "checkpoint.best_metric=accuracy"};
  REQUIRE(place.train("whole", place.sets(with(keeping, {"log.every=1"}))).exit_code == 0);
  const auto losses = metric_values(place / "whole", "loss"), margins = metric_values(place / "whole", "margin");
  CHECK(losses.at(1) == Approx(std::log(2)).epsilon(1e-5));
  CHECK(std::abs(margins.at(1)) < 1e-5);
  CHECK(margins.at(40) > 0);
  CHECK(metric(place / "whole", "samples").at(40) == "320");
  const double held_out = metric_values(place / "whole", "evaluation_loss").at(40);
  CHECK(held_out < std::log(2));
  const auto accuracies = metric_values(place / "whole", "evaluation_accuracy");
  CHECK(accuracies.at(40) > 0.7);
  double highest = 0;
  for (const auto& [step, accuracy] : accuracies) highest = std::max(highest, accuracy);
  const auto of_kept = [&](const std::string& run) {  // there are the best one and the last one, perhaps the same
    return accuracies.at(std::stoll(checkpoints_of(place / run).front().substr(std::string("step_").size())));
  };
  CHECK(of_kept("whole") == highest);
  const ProcessResult pruned =
      run_program("monomorph-checkpoint", {"prune", place / "whole", "--keep-last", "1", "--keep-best", "--dry-run"});
  CHECK((contains(pruned.out, "would keep") && !contains(pruned.out, "would delete")));
  CHECK(metric(place / "whole", "evaluation_perplexity").empty());
  const ProcessResult evaluated = place.run({"evaluate", "--checkpoint", place / "whole"});
  INFO(evaluated.out << evaluated.err);
  CHECK(measured(evaluated.out, "loss") == Approx(held_out).epsilon(1e-3));
  CHECK((contains(evaluated.out, "chosen_reward") && contains(evaluated.out, "samples)")));
  REQUIRE(place.train("parted", place.sets(with(keeping, {"run.steps=24"}))).exit_code == 0);
  REQUIRE(place.train("parted", place.sets(with(keeping, {"checkpoint.resume=auto"}))).exit_code == 0);
  CHECK(of_kept("parted") == highest);
  CHECK(final_state(place / "parted") == final_state(place / "whole"));
  REQUIRE(
      place.run({"generate", "--checkpoint", place / "whole", "--prompt", "First", "--max-tokens", "4"}).exit_code ==
      0);
}

}  // namespace

TEST_CASE("a model learns to prefer held-out lines that it has never seen, and resumes to the same bits") {
  check_learns("tiny_preferences");
}

TEST_CASE("adapters learn to prefer held-out lines, and resume to the same bits") {
  check_learns("tiny_preferences_lora");
}

TEST_CASE("several ranks learn preferences to the bits of one") {
  const Preferring place("tiny_preferences_lora");
  REQUIRE(place.reference().exit_code == 0);
  const std::string scores = read_bytes(place / "train_pairs.reference");
  std::filesystem::remove(place / "train_pairs.reference");
  const ProcessResult by_two =
      place.run(with(Arguments{"reference", "--ranks", "2"}, place.training("run", place.sets())));
  INFO(by_two.err);
  REQUIRE(by_two.exit_code == 0);
  CHECK(contains(by_two.out, "objective is "));
  CHECK(std::ranges::count(by_two.out, '\n') == 5);  // where the weights are from, their objective, adapters, two sets
  CHECK(read_bytes(place / "train_pairs.reference") == scores);
  const std::vector<std::string> sets =
      place.sets({"run.steps=4", "batch.reduction=fixed_tree", "batch.micro_batch=2"});
  REQUIRE(place.train("one", sets).exit_code == 0);
  const auto two = place.run(with(Arguments{"--ranks", "2"}, place.training("two", sets)));
  INFO(two.err);
  REQUIRE(two.exit_code == 0);
  CHECK(final_state(place / "two") == final_state(place / "one"));
}

TEST_CASE("a run goes on beside the scores that it began with, or is refused") {
  const Preferring place("tiny_preferences");
  REQUIRE(place.reference().exit_code == 0);
  REQUIRE(place.train("run", place.sets({"run.steps=20"})).exit_code == 0);
  const std::string path = place / "train_pairs.reference", scores = read_bytes(path);
  REQUIRE(place.reference({"weights.from=" + place / "run"}).exit_code == 0);
  REQUIRE(read_bytes(path) != scores);
  const Arguments further = place.training("run", place.sets({"run.steps=24", "checkpoint.resume=auto"}));
  const std::vector<std::string> said{"[PREF-13]", "train_pairs.reference", "step_00000020", "weights.from",
                                      "(data.train)"};
  check_refusal(place.run(with(Arguments{"check"}, further)), 2, said);
  check_refusal(place.run(further), 2, said);
  CHECK(checkpoints_of(place / "run").back() == "step_00000020");
  write_bytes(path, scores);  // those of the held-out set may be others
  CHECK(place.run(further).exit_code == 0);
  CHECK(checkpoints_of(place / "run").back() == "step_00000024");
}

TEST_CASE("what preferences lack, and what has none, is refused in a line") {
  const Preferring place("tiny_preferences");
  check_refusal(place.train("run", place.sets()), 2,
                {"[PREF-06]", "train_pairs.reference", "reference", "(data.train)"});
  check_refusal(place.run(with(Arguments{"check"}, place.training("run", place.sets()))), 2, {"[PREF-06]"});
  check_refusal(place.reference({"weights.from="}), 2, {"[PREF-10]", "weights.from"});
  check_refusal(place.reference({"data.train=" + place / "train.pbin"}), 2,
                {"[PREF-05]", "train.pbin", "monomorph-data preferences", "--sequence-length 32", "(data.train)"});
  REQUIRE(place.reference().exit_code == 0);
  check_refusal(run_program("tiny_documents", with(Arguments{"reference"}, place.training("run", place.sets()))), 2,
                {"[PREF-09]", "tiny_documents"});
  check_refusal(place.train("run", place.sets({"weights.from="})), 2,
                {"[PREF-12]", "train_pairs.reference", "weights.from is empty"});
  REQUIRE(place.train("tuned", place.sets({"run.steps=30", "optimizer.lr=0.01"})).exit_code == 0);
  check_refusal(place.train("run", place.sets({"weights.from=" + place / "tuned"})), 2,
                {"[PREF-12]", "train_pairs.reference", "tuned", "the recipe's command reference"});
  check_refusal(place.run({"evaluate", "--checkpoint", place / "tuned", "--data", place / "held_out.pbin"}), 2,
                {"[PREF-05]", "held_out.pbin"});
  std::filesystem::copy_file(place / "held_out_pairs.reference", place / "train_pairs.reference",
                             std::filesystem::copy_options::overwrite_existing);
  check_refusal(place.train("run", place.sets()), 2, {"[PREF-08]", "train_pairs.reference", "(data.train)"});
  const ProcessResult described = place.run({"describe"});
  CHECK(contains(described.out, "samples of 2 sequences"));
  CHECK(contains(described.out, "Preferences"));
}
