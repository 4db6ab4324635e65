#include "train/tasks/questions.hpp"

#include "core/json_text.hpp"
#include "train/tasks/multiple_choice.hpp"
#include "train/tasks/shots.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
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

TEST_CASE("questions of ARC and MMLU as they were published are those of Hugging Face's data sets") {
  std::vector<Question> arc = read_questions(Benchmark::arc, fixtures + "published/arc.jsonl"),
                        of_lines = read_questions(Benchmark::arc, fixtures + "arc.jsonl");
  for (Question& question : of_lines) question.record.clear();  // which has the question's own id, too
  for (Question& question : arc) question.record.clear();
  check_same(arc, of_lines);

  for (const auto& [part, name] : {std::pair{"test", "mmlu"}, {"dev", "mmlu_dev"}}) {
    CAPTURE(name);
    std::vector<Question> by_subject = read_questions(Benchmark::mmlu, fixtures + name + ".jsonl");
    std::ranges::stable_sort(by_subject, {}, &Question::subject);
    check_same(read_questions(Benchmark::mmlu, fixtures + "published/mmlu/*_" + part + ".csv"), by_subject);
  }
}

TEST_CASE("a file of MMLU as it was published is compressed or not, and of its name's subject") {
  const TemporaryFolder folder;
  const std::string text = "Why?,w,x,\"y, \"\"z\"\"\",z,D\n";
  for (const auto& [name, subject] : {std::pair{"a_b_test.csv", "a_b"}, {"a_b_val.csv", "a_b"}, {"a_b.csv", "a_b"}}) {
    CAPTURE(name);
    write_bytes(folder / name, text);
    const Question question = read_questions(Benchmark::mmlu, folder / name).at(0);
    CHECK(question.prompt == "Why?\nA. w\nB. x\nC. y, \"z\"\nD. z\nAnswer:");
    CHECK(question.answer == 3);
    CHECK(question.subject == subject);
  }
  const std::string compressed = folder / "c_dev.csv.gz";
  REQUIRE(run_process(bash("gzip --stdout \"$1\" > \"$2\"", {folder / "a_b.csv", compressed})).exit_code == 0);
  CHECK(read_questions(Benchmark::mmlu, compressed).at(0).subject == "c");
}

TEST_CASE("comma-separated values that are no questions are refused with their line and what they lack") {
  const TemporaryFolder folder;
  const auto refusal_of = [&](Benchmark benchmark, const std::string& text) {
    write_bytes(folder / "a_test.csv", text);
    return error_of([&] { read_questions(benchmark, folder / "a_test.csv"); });
  };
  const std::string row = "Why?,w,x,y,z,A\n";
  const std::pair<std::string, std::string> wrong[] = {{"", "[TASK-02]"},
                                                       {row + "Why?,w,x,y,z\n",
                                                        "has 5 values, not question, four choices and answer"},
                                                       {row + "question,A,B,C,D,answer\n",
                                                        "its answer, \"answer\", is none of A, B, C and D"},
                                                       {row + "Why?,w,x,y,z,E\n", "its answer, \"E\", is none"},
                                                       {row + "Why?,w,x,y,z,\n", "its answer, \"\", is none"},
                                                       {row + "Why?,\xff,x,y,z,A\n", "it is not UTF-8"},
                                                       {row + "\"Why?,w,x,y,z,A\n", "[DATA-80] the record at line 2"}};
  for (const auto& [text, what] : wrong) {
    const std::string message = refusal_of(Benchmark::mmlu, text);
    CAPTURE(text, message);
    CHECK(contains(message, what));
    if (!contains(what, "[")) CHECK(message.starts_with("[TASK-01] line 2 of "));
    CHECK(message.find('\n') == std::string::npos);
  }
  CHECK(contains(refusal_of(Benchmark::arc, row), "[TASK-06]"));
  CHECK(contains(error_of([&] { read_questions(Benchmark::mmlu, folder / "*_none.csv"); }), "[DATA-74]"));
}

TEST_CASE("brackets that nothing closes are left in a text, in time that grows with it alone") {
  const auto context_of = [](const std::string& words) {
    return questions_of(Benchmark::hellaswag,
                        fmt::format(R"({{"activity_label": "A", "ctx": {}, "endings": ["one", "two"], "label": "0"}})",
                                    json_string(words)))[0]
        .prompt;
  };
  const std::string open(1'000'000, '[');
  CHECK(context_of("x" + open) == "A: x" + open);
  CHECK(context_of("x" + open + "\n y [z] w") == "A: x" + open + "\n y w");
  CHECK(context_of("x [a\n[b] c") == "A: x [a\n c");
}

TEST_CASE("lines that are no questions are refused with their number and what they lack") {
  refused(Benchmark::arc, "", {"[TASK-02]", "questions.jsonl"});
  refused(Benchmark::arc, "{\n", {"[TASK-01]", "line 1"});
  refused(Benchmark::mmlu, "\n[]\n", {"[TASK-01]", "line 2", "JSON object"});
  refused(Benchmark::mmlu, "{\"question\": \"\xff\"}", {"[TASK-01]", "JSON object"});
  refused(Benchmark::arc, std::string(100'000, '['), {"[TASK-01]"});
  refused(Benchmark::arc,
          "{\"question\": \"?\", \"x\": " + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}",
          {"[TASK-01]", "values lie more than 256 deep in each other"});
  refused(Benchmark::mmlu, std::string("{}\0{}", 5),
          {"[TASK-01]", "line 1", "JSON object: there is a NUL byte (column 3)"});
  refused(Benchmark::mmlu, "\n{\"answer\": 1e400}", {"[TASK-01]", "line 2", "number overflow parsing '1e400'"});
  refused(Benchmark::arc, R"({"question": "?", "choices": {"text": ["a"], "label": ["A"]}, "answerKey": "B"})",
          {"[TASK-01]", "answerKey"});
  refused(Benchmark::arc, R"({"question": "?", "choices": {"text": ["a"], "label": ["A", "B"]}, "answerKey": "B"})",
          {"[TASK-01]", "labels than texts"});
  refused(Benchmark::arc, R"({"question": "?", "choices": {"text": [], "label": []}, "answerKey": ""})",
          {"[TASK-01]", "\"text\""});
  refused(Benchmark::arc, R"({"question": {"stem": 5}, "answerKey": "A"})", {"[TASK-01]", "\"stem\""});
  refused(Benchmark::arc, R"({"question": {"stem": "?"}, "answerKey": "A"})", {"[TASK-01]", "\"text\""});
  refused(Benchmark::arc, R"({"question": {"stem": "?", "choices": [{"text": "a"}]}, "answerKey": "A"})",
          {"[TASK-01]", "\"label\""});
  for (const char* const choices : {"5", "\"a\"", "[\"a\"]", "{\"text\": \"a\"}"})
    refused(Benchmark::arc,
            R"({"question": {"stem": "?", "choices": )" + std::string(choices) + R"(}, "answerKey": "A"})",
            {"[TASK-01]", "one of its choices is no object"});
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
