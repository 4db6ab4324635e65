#include "train/tasks/questions.hpp"

#include "train/tasks/multiple_choice.hpp"
#include "train/tasks/shots.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <cmath>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

const std::string fixtures = MONOMORPH_SOURCE_DIR "/tests/fixtures/tasks/";

void check_same(const std::vector<Question>& questions, const std::vector<Question>& others) {
  REQUIRE(questions.size() == others.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    CAPTURE(i);
    CHECK(questions[i].prompt == others[i].prompt);
    CHECK(questions[i].choices == others[i].choices);
    CHECK(questions[i].answer == others[i].answer);
    CHECK(questions[i].subject == others[i].subject);
    CHECK(questions[i].record == others[i].record);
  }
}

std::vector<Question> questions_of(Benchmark benchmark, const std::string& lines) {
  const TemporaryFolder folder;
  write_bytes(folder / "questions.jsonl", lines);
  return read_questions(benchmark, folder / "questions.jsonl");
}

void refused(Benchmark benchmark, const std::string& lines, const std::vector<std::string>& parts) {
  const std::string message = error_of([&] { questions_of(benchmark, lines); });
  CAPTURE(lines, message);
  for (const std::string& part : parts) CHECK(contains(message, part));
  CHECK(message.find('\n') == std::string::npos);
}

}  // namespace

TEST_CASE("questions become prompts as the data sets' cards say") {
  const Question hellaswag = questions_of(
      Benchmark::hellaswag,
      R"({"activity_label": "Rowing", "ctx_a": "A  man [header] x [title] y", "ctx_b": "the BOAT [a", "endings": [" one [b]", "two"], "label": "1"})")
      [0];
  CHECK(hellaswag.prompt == "Rowing: A man x. y The boat [a");
  CHECK(hellaswag.choices == std::vector<std::string>{"one ", "two"});
  CHECK(hellaswag.answer == 1);
  const Question arc = questions_of(
      Benchmark::arc,
      R"({"question": "Why?", "choices": {"text": ["a", "b"], "label": ["1", "2"]}, "answerKey": "2"})")[0];
  CHECK(arc.prompt == "Question: Why?\nAnswer:");
  CHECK(arc.answer == 1);
  const Question mmlu =
      questions_of(Benchmark::mmlu,
                   R"({"question": " Why? ", "choices": ["w", "x", "y", "z"], "answer": 3, "subject": "a_b"})")[0];
  CHECK(mmlu.prompt == "Why?\nA. w\nB. x\nC. y\nD. z\nAnswer:");
  CHECK(prompt_with_shots(Benchmark::mmlu, mmlu, std::vector{mmlu}, std::vector<std::size_t>{0}) ==
        "The following are multiple choice questions (with answers) about a b.\n\n" + mmlu.prompt + " D\n\n" +
            mmlu.prompt);
}

TEST_CASE("questions that are compressed are those of the lines") {
  const TemporaryFolder folder;
  const std::string lines = fixtures + "arc.jsonl", compressed = folder / "arc.jsonl.gz";
  REQUIRE(run_process(bash("gzip --stdout \"$1\" > \"$2\"", {lines, compressed})).exit_code == 0);
  check_same(read_questions(Benchmark::arc, compressed), read_questions(Benchmark::arc, lines));
  write_bytes(compressed, read_bytes(compressed).substr(0, 100));
  CHECK(contains(error_of([&] { read_questions(Benchmark::arc, compressed); }), "[DATA-70]"));
}

#ifdef MONOMORPH_HAS_PARQUET
TEST_CASE("questions of a Parquet file, whose choices are lists and structs, are those of the lines") {
  using enum Benchmark;
  for (const auto& [benchmark, name] : {std::pair{hellaswag, "hellaswag"}, {arc, "arc_train"}, {mmlu, "mmlu_dev"}}) {
    CAPTURE(name);
    check_same(read_questions(benchmark, fixtures + name + ".parquet"),
               read_questions(benchmark, fixtures + name + ".jsonl"));
  }
  const std::string refusal = error_of([&] { read_questions(mmlu, fixtures + "arc.parquet"); });
  CHECK(refusal.starts_with("[TASK-01] line 1 of"));
  CHECK(contains(refusal, "arc.parquet"));
  CHECK(contains(refusal, "array of texts as \"choices\""));
}
#endif

TEST_CASE("lines that are no questions are refused with their number and what they lack") {
  refused(Benchmark::arc, "", {"[TASK-02]", "questions.jsonl"});
  refused(Benchmark::arc, "{\n", {"[TASK-01]", "line 1"});
  refused(Benchmark::mmlu, "\n[]\n", {"[TASK-01]", "line 2", "JSON object"});
  refused(Benchmark::mmlu, "{\"question\": \"\xff\"}", {"[TASK-01]", "JSON object"});
  refused(Benchmark::arc, std::string(100'000, '['), {"[TASK-01]"});
  refused(Benchmark::mmlu, std::string("{}\0{}", 5),
          {"[TASK-01]", "line 1", "JSON object: there is a NUL byte (column 3)"});
  refused(Benchmark::mmlu, "\n{\"answer\": 1e400}", {"[TASK-01]", "line 2", "number overflow parsing '1e400'"});
  refused(Benchmark::arc, R"({"question": "?", "choices": {"text": ["a"], "label": ["A"]}, "answerKey": "B"})",
          {"[TASK-01]", "answerKey"});
  refused(Benchmark::arc, R"({"question": "?", "choices": {"text": ["a"], "label": ["A", "B"]}, "answerKey": "B"})",
          {"[TASK-01]", "labels than texts"});
  refused(Benchmark::arc, R"({"question": "?", "choices": {"text": [], "label": []}, "answerKey": ""})",
          {"[TASK-01]", "\"text\""});
  refused(Benchmark::arc, R"({"question": {"stem": "?"}})", {"[TASK-01]", "\"question\""});
  refused(Benchmark::mmlu, R"({"question": "?", "choices": ["a", "b", "c"], "answer": 0})", {"[TASK-01]", "four"});
  for (const char* const answer : {"4", "-1", "1.5", "\"A\"", "\"\"", "null", "1e30", "99999999999999999999"})
    refused(Benchmark::mmlu,
            R"({"question": "?", "choices": ["a", "b", "c", "d"], "answer": )" + std::string(answer) + "}",
            {"[TASK-01]", "\"answer\"", "0 to 3"});
  refused(Benchmark::hellaswag, R"({"activity_label": "x", "ctx": "y", "endings": ["a", "b"], "label": ""})",
          {"[TASK-01]", "label"});
  refused(Benchmark::hellaswag, R"({"activity_label": "x", "ctx": 5, "endings": ["a"], "label": 0})",
          {"[TASK-01]", "ctx"});
}

TEST_CASE("examples must be there, and HellaSwag's are never the question itself") {
  std::vector<Question> questions;
  for (int i = 0; i < 4; ++i)
    questions.push_back({.prompt = "?", .choices = {"a"}, .subject = i < 3 ? "x" : "y", .record = std::to_string(i)});
  const auto chosen = [&](Benchmark benchmark, std::size_t n) {
    return choose_shots(benchmark, questions, questions, {.shots = n});
  };
  for (int i = 0; const auto& shots : chosen(Benchmark::hellaswag, 3)) {
    CHECK(shots.size() == 3);
    CHECK(std::ranges::find(shots, static_cast<std::size_t>(i++)) == shots.end());
  }
  CHECK(contains(error_of([&] { chosen(Benchmark::hellaswag, 4); }), "[TASK-03] --shots needs 5 examples"));
  CHECK(contains(error_of([&] { chosen(Benchmark::arc, 5); }), "[TASK-03] --shots needs 5 examples"));
  CHECK(contains(error_of([&] { chosen(Benchmark::mmlu, 2); }), "[TASK-03] --shots needs 2 examples of y"));
}

TEST_CASE("accuracies have the standard error of a mean, pooled over subjects") {
  const std::vector<std::string> one(4, "x");
  const Accuracy half = accuracy_of({true, false, true, false}, one);
  CHECK(half.mean == 0.5);
  CHECK(half.standard_error.value() == Approx(std::sqrt(4 * 0.25 / 3 / 4)));
  const Accuracy pooled = accuracy_of({true, true, true, false}, std::vector<std::string>{"x", "x", "y", "y"});
  CHECK(pooled.mean == 0.75);
  CHECK(pooled.standard_error.value() == Approx(std::sqrt(0.5 / 2 / 4)));  // of variances 0 and 1/2, each of one degree
  CHECK_FALSE(accuracy_of({true}, std::vector<std::string>{"x"}).standard_error.has_value());
}
