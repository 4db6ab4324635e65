// tiny_documents is tiny_llama with attention within documents: from the text to the loss, boundaries and all.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>

using namespace monomorph::testing;

namespace {

const std::vector<std::string> six_steps{"run.steps=6", "schedule.kind=constant"};

/// The paragraphs of the training text as documents: a dozen tokens or a hundred, rows have 32.
std::string packed_paragraphs(const Workplace& place) {
  const std::string text = read_bytes(place / "train.txt");
  std::string lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", begin), text.size());
    lines += nlohmann::json{{"text", text.substr(begin, end - begin)}}.dump() + "\n";
    begin = end + 2;
  }
  write_bytes(place / "paragraphs.jsonl", lines);
  const ProcessResult packed =
      run_program("monomorph-data", {"pack", place / "paragraphs.jsonl", "--tokenizer", place / "tokenizer.json",
                                     "--output", place / "paragraphs.pbin"});
  INFO(packed.err);
  REQUIRE(packed.exit_code == 0);
  return place / "paragraphs.pbin";
}

}  // namespace

TEST_CASE("a run within documents: other losses than across them, and in the same bits if it is interrupted") {
  const Workplace place("tiny_documents");
  const std::string paragraphs = packed_paragraphs(place);
  const auto sets = with(six_steps, {"data.train=" + paragraphs, "data.evaluation=" + paragraphs});
  REQUIRE(place.train("whole", sets).exit_code == 0);
  REQUIRE(place.train("parted", with(sets, {"run.steps=3"})).exit_code == 0);
  REQUIRE(place.train("parted", with(sets, {"checkpoint.resume=auto"})).exit_code == 0);
  CHECK(final_state(place / "parted") == final_state(place / "whole"));

  REQUIRE(run_program("tiny_llama", place.training("across", sets)).exit_code == 0);
  const auto within = metric_values(place / "whole", "loss"), across = metric_values(place / "across", "loss");
  CHECK(within.size() == 6);
  CHECK(within.at(1) != across.at(1));
  CHECK(within.at(6) < within.at(1));
  CHECK(metric(place / "whole", "evaluation_loss") != metric(place / "across", "evaluation_loss"));
}

TEST_CASE("a text that is one document trains within documents as without, in every bit") {
  const Workplace place("tiny_documents");
  REQUIRE(place.train("within", six_steps).exit_code == 0);
  REQUIRE(run_program("tiny_llama", place.training("across", six_steps)).exit_code == 0);
  for (const std::string name : {"loss", "grad_norm", "evaluation_loss"})
    CHECK(metric(place / "within", name) == metric(place / "across", name));
}
