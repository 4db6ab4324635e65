// tiny_encoder learns pairs of lines: a run from text to embeddings, on one rank and several, and what is asked of it.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>
#include <string>

using namespace monomorph::testing;

namespace {

using Json = nlohmann::json;

/// A workplace whose text is also there as pairs of neighbouring lines.
struct Encoders : Workplace {
  Encoders() : Workplace("tiny_encoder") {
    for (const std::string part : {"train", "held_out"}) {
      std::istringstream lines(read_bytes(*this / (part + ".txt")));
      std::string records, last;
      for (std::string line; std::getline(lines, line); last = line)
        if (!line.empty() && !last.empty()) records += Json{{"query", last}, {"positive", line}}.dump() + "\n";
      write_bytes(*this / (part + ".jsonl"), records);
      const ProcessResult packed =
          run_program("monomorph-data", {"pairs", *this / (part + ".jsonl"), "--tokenizer", *this / "tokenizer.json",
                                         "--sequence-length", "32", "--output", *this / (part + "_pairs.pbin")});
      INFO(packed.err);
      REQUIRE(packed.exit_code == 0);
    }
  }
  std::vector<std::string> sets(const std::vector<std::string>& more = {}) const {
    return with(std::vector<std::string>{"data.train=" + *this / "train_pairs.pbin",
                                         "data.evaluation=" + *this / "held_out_pairs.pbin", "run.steps=6",
                                         "batch.global_batch=16", "batch.micro_batch=16", "schedule.kind=constant"},
                more);
  }
  std::string output_of(const Arguments& arguments) const {
    const ProcessResult result = run(arguments);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return result.out;
  }
};

std::vector<Json> lines_of(const std::string& text) {
  std::vector<Json> values;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) values.push_back(Json::parse(line));
  return values;
}

}  // namespace

TEST_CASE("an encoder learns pairs, reports its metric, and resumes to the same bits") {
  const Encoders place;
  REQUIRE(place.train("whole", place.sets({"log.every=1"})).exit_code == 0);
  const auto losses = metric_values(place / "whole", "loss"), accuracies = metric_values(place / "whole", "accuracy");
  CHECK(losses.at(6) < losses.at(1));
  REQUIRE(accuracies.size() == 6);
  for (const auto& [step, accuracy] : accuracies) CHECK((0 <= accuracy && accuracy <= 1));
  CHECK(metric(place / "whole", "samples").at(6) == "96");
  CHECK(metric(place / "whole", "tokens").empty());
  CHECK(metric(place / "whole", "evaluation_accuracy").size() == 1);
  CHECK(metric(place / "whole", "evaluation_samples").size() == 1);
  for (const char* const of_texts : {"evaluation_perplexity", "evaluation_bits_per_byte", "evaluation_tokens"})
    CHECK(metric(place / "whole", of_texts).empty());
  REQUIRE(place.train("parted", place.sets({"run.steps=3"})).exit_code == 0);
  REQUIRE(place.train("parted", place.sets({"checkpoint.resume=auto"})).exit_code == 0);
  CHECK(final_state(place / "parted") == final_state(place / "whole"));
}

TEST_CASE("ranks compare the pairs of all of them: two train as one that has all in one micro-batch") {
  const Encoders place;
  REQUIRE(place.train("one", place.sets()).exit_code == 0);
  const auto two =
      place.run(with(Arguments{"--ranks", "2"}, place.training("two", place.sets({"batch.micro_batch=8"}))));
  INFO(two.err);
  REQUIRE(two.exit_code == 0);
  const auto of_one = metric_values(place / "one", "loss"), of_two = metric_values(place / "two", "loss");
  REQUIRE(of_two.size() == of_one.size());
  for (const auto& [step, loss] : of_one) CHECK(std::abs(of_two.at(step) / loss - 1) < 1e-4);
  // With half as many to be compared with, it is easier.
  REQUIRE(place.train("fewer", place.sets({"batch.micro_batch=8"})).exit_code == 0);
  CHECK(metric_values(place / "fewer", "loss").at(1) < 0.9 * of_one.at(1));
  check_refusal(place.train("tree", place.sets({"batch.reduction=fixed_tree"})), 2,
                {"[RANK-24]", "any_order", "tiny_encoder"});
}

TEST_CASE("retrieve ranks held-out texts, evaluate says the loss, embed gives the embeddings of lines") {
  const Encoders place;
  REQUIRE(place.train("run", place.sets({"run.steps=40"})).exit_code == 0);
  const std::string found = place.output_of({"retrieve", "--checkpoint", place / "run", "--bag-of-words"});
  INFO(found);
  std::istringstream rows(found);
  std::string header, row;
  std::getline(rows, header);
  CHECK((contains(header, " pairs") && contains(header, "recall@1 ") && contains(header, "recall@10") &&
         contains(header, "MRR")));
  for (const char* const of : {"embeddings", "bag of words (TF-IDF)", "chance"}) {
    std::getline(rows, row);
    CHECK(contains(row, of));
  }
  CHECK(place.output_of({"retrieve", "--checkpoint", place / "run", "--bag-of-words", "--micro-batch", "5"}) == found);
  const std::string evaluated = place.output_of({"evaluate", "--checkpoint", place / "run"});
  CHECK((contains(evaluated, "accuracy") && contains(evaluated, "samples)")));
  CHECK_FALSE(contains(evaluated, "perplexity"));

  std::string texts = "Before we proceed any further, hear me speak.\n\nSpeak, speak.\n";
  for (int i = 0; i < 40; ++i) texts += "line " + std::to_string(i) + "\n";
  write_bytes(place / "texts.txt", texts + std::string(1000, 'x') + "\nSpeak, speak.\n");
  const auto embedded =
      lines_of(place.output_of({"embed", "--checkpoint", place / "run", "--input", place / "texts.txt"}));
  REQUIRE(embedded.size() == 45);
  CHECK(embedded[2]["text"] == "Speak, speak.");
  CHECK(embedded[2]["embedding"] == embedded[44]["embedding"]);
  for (std::size_t i = 0; i < embedded.size(); ++i) {
    double squares = 0;
    REQUIRE(embedded[i]["embedding"].size() == 32);
    for (const double feature : embedded[i]["embedding"]) squares += feature * feature;
    CHECK(squares == Approx(i == 1 ? 0 : 1).margin(1e-6));  // an empty line is no text
  }
}

TEST_CASE("what an encoder is not asked for, and what is no encoder, is refused in a line") {
  const Encoders place;
  REQUIRE(place.train("run", place.sets()).exit_code == 0);
  check_refusal(place.run({"generate", "--checkpoint", place / "run", "--prompt", "First"}), 2,
                {"[RUN-25]", "makes embeddings of texts", "tiny_encoder"});
  check_refusal(place.train("texts", place.sets({"data.train=" + place / "train.pbin"})), 2,
                {"[PAIRS-04]", "train.pbin", "monomorph-data pairs", "--sequence-length 32", "(data.train)"});
  check_refusal(place.run(with(Arguments{"check"},
                               place.training("held_out", place.sets({"data.evaluation=" + place / "held_out.pbin"})))),
                2, {"[PAIRS-04]", "held_out.pbin", "(data.evaluation)"});
  for (const std::string command : {"retrieve", "embed"})
    check_refusal(run_program("tiny_llama", {command, "--checkpoint", place / "run"}), 2,
                  {"[RUN-26]", command, "tiny_llama"});
  check_refusal(place.run({"embed", "--checkpoint", place / "run", "--input", place / "none.txt"}), 2,
                {"[FILE-01]", "none.txt", "--input"});
}

TEST_CASE("describe and check say what an encoder is, and what its pairs are compared with") {
  const Encoders place;
  const std::string described = place.output_of({"describe"});
  CHECK(contains(described, "embedding of a text   32 features of the mean of its tokens, of length 1"));
  CHECK(contains(described, "projection.weight"));
  CHECK(contains(described, "samples of 2 texts"));
  const std::string checked = place.output_of(with(Arguments{"check"}, place.training("run", place.sets())));
  CHECK(contains(checked, "each sample is compared with 15 others"));
  CHECK(contains(checked, "held-out samples "));
  CHECK(contains(place.output_of({"schema"}), "temperature"));
}
