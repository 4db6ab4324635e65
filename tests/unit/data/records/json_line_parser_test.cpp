#include "data/records/json_line_parser.hpp"

#include "data/records/line_block.hpp"
#include "unit/data/data_test_support.hpp"

#include <nlohmann/json.hpp>

#include <random>
#include <variant>

using namespace monomorph::data;

namespace {

std::string padded(const std::string& line) { return line + std::string(LineBlock::padding_bytes, '"'); }

/// "" if the line is accepted, else id and reason.
std::string problem_of(const std::string& line) {
  static JsonLineParser parser;
  const std::string bytes = padded(line);
  const auto outcome = parser.check(std::string_view(bytes).substr(0, line.size()));
  const auto* problem = std::get_if<LineProblem>(&outcome);
  return problem != nullptr ? std::string(problem->id.text()) + ": " + problem->reason : "";
}

bool accepted(const std::string& line) { return problem_of(line).empty(); }

std::string text_at(const std::string& line, const std::string& pointer) {
  static JsonLineParser parser;
  std::string bytes = padded(line);
  const auto text = parser.text_at(std::span(bytes).first(line.size()), FieldPointer(pointer));
  if (const auto* problem = std::get_if<LineProblem>(&text))
    return std::string(problem->id.text()) + ": " + problem->reason;
  return std::string(std::get<std::string_view>(text));
}

}  // namespace

TEST_CASE("A line is one JSON value, whatever its kind") {
  for (const std::string line :
       {"0", "-0", "1e5", "-1.5E+3", "true", "null", "\"\"", "{}", "[]", "{\"a\":[1,{\"b\":null}]}", " \t1 \r",
        "\"\\u00e9\\ud83d\\ude00\\\\\\\"\\/\\b\\f\\n\\r\\t\"", "\"\xf0\x9f\x98\x80\"", "\"\\u0000\"", "\xef\xbb\xbf{}",
        "{\"a\":1,\"a\":2}"}) {
    CAPTURE(line);
    CHECK(problem_of(line) == "");
  }
}

TEST_CASE("Numbers of any size are JSON, and what only looks like a number is not") {
  for (const std::string number : {"123456789012345678901234567890", "-99999999999999999999", "1e400", "-1e-400",
                                   "0.1e99999", "18446744073709551616", "1.7976931348623159e308"}) {
    CAPTURE(number);
    CHECK(accepted(number));
    CHECK(accepted("{\"n\": " + number + ", \"text\": \"1e400x\", \"m\": [" + number + "]}"));
    for (const std::string ending : {"x", ".", "e", "e+", " 1", "-", "true", "\"", ".e1", "e--5", "]"}) {
      CAPTURE(ending);
      CHECK_FALSE(accepted(number + ending));
      CHECK_FALSE(accepted("[" + number + ending + ", 1e400]"));
    }
    CHECK_FALSE(accepted("0" + number));
    CHECK_FALSE(accepted("+" + number));
  }
  CHECK_FALSE(accepted("[01, 1e400]"));
  CHECK_FALSE(accepted("[1., 1e400]"));
  CHECK_FALSE(accepted("[.5, 1e400]"));
  CHECK_FALSE(accepted("NaN"));
  CHECK_FALSE(accepted("[Infinity]"));
  CHECK_FALSE(accepted("-"));
}

TEST_CASE("A broken line says what is wrong with it") {
  const auto check = [](const std::string& line, const std::string& part) {
    CAPTURE(line, problem_of(line));
    CHECK(contains(problem_of(line), "DATA-02: "));
    CHECK(contains(problem_of(line), part));
  };
  check("", "blank");
  check(" \t\r", "blank");
  check("\xef\xbb\xbf", "blank");
  check("{\"a\":1} {\"a\":2}", "not one JSON value");
  check("1 2", "not one JSON value");
  check("{\"a\":1", "not one JSON value");
  check("{\"a\":", "not one JSON value");
  check("[1,]", "not one JSON value");
  check("{a:1}", "not one JSON value");
  check("{'a':1}", "not one JSON value");
  check("\"abc", "does not end");
  check("\"a\tb\"", "control character");
  check(std::string("\"a\0b\"", 5), "control character");
  check(std::string("1\0", 2), "");
  check(std::string("{\"a\":1}\0{}", 10), "not one JSON value");
  check(std::string("{\"a\":\0 1}", 9), "");
  check("\"\\x\"", "escape");
  check("\"\\u12g4\"", "escape");
  check("\"\\ud83d\"", "surrogate");
  check("\"\\ud83d\\n\"", "surrogate");
  check("\"\\ude00\"", "surrogate");
  check("\"\xff\"", "UTF-8");
  check("\"\xc0\xaf\"", "UTF-8");
  check("\"\xed\xa0\xbd\"", "UTF-8");
  check("\"\xf4\x90\x80\x80\"", "UTF-8");
  check("\"\xe2\x82\"", "UTF-8");
  check("{\"a\":1}\xff", "UTF-8");
  check("\f1", "not one JSON value");
  check(std::string(100000, '['), "");
  check(std::string(2000, '[') + std::string(2000, ']'), "1024 deep");
}

TEST_CASE("Values that nobody asks for are validated, too") {
  for (const std::string broken : {"\"\\u12\"", "01", "1.", "tru", "\"\\q\"", "{\"b\" 1}", "[1 2]", "\"\xff\""}) {
    CAPTURE(broken);
    CHECK(contains(text_at("{\"text\": \"a\", \"rest\": " + broken + "}", "/text"), "DATA-02"));
    CHECK(contains(text_at("{\"rest\": [[" + broken + "]], \"text\": \"a\"}", "/text"), "DATA-02"));
  }
}

TEST_CASE("Text is found by JSON Pointer: of members with one name the last counts") {
  CHECK(text_at("{\"text\": \"a\\u0000\\n\\ud83d\\ude00\"}", "/text") == std::string("a\0\n\xf0\x9f\x98\x80", 7));
  CHECK(text_at("{\"text\": \"a\", \"text\": \"b\"}", "/text") == "b");
  CHECK(text_at("{\"a\": {\"b/c~\": [\"x\", {\"\": \"y\"}]}}", "/a/b~1c~0/1/") == "y");
  CHECK(text_at("\"whole\"", "") == "whole");
  CHECK(text_at("[\"a\", \"b\"]", "/1") == "b");
  CHECK(text_at("\xef\xbb\xbf{\"text\": \"a\"}\r", "/text") == "a");
  for (const char* pointer : {"/2", "/01", "/-", "/-1", "/x", "/", "/0/0", "/99999999999999999999"}) {
    CAPTURE(pointer);
    CHECK(contains(text_at("[\"a\", \"b\"]", pointer), "DATA-03"));
  }
  CHECK(contains(text_at("{\"txt\": 1}", "/text"), "no field \"/text\""));
  CHECK(contains(text_at("{\"text\": {\"a\": 1}}", "/text"), "is an object"));
  CHECK(contains(text_at("{\"text\": [\"a\"]}", "/text"), "is an array"));
  CHECK(contains(text_at("{\"text\": null}", "/text"), "is null"));
  CHECK(contains(text_at("{\"text\": true}", "/text"), "is true or false"));
  CHECK(contains(text_at("{\"text\": 1e400}", "/text"), "is a number"));
  for (const char* pointer : {"text", "/a~", "/a~2", "a/b"}) {
    CAPTURE(pointer);
    CHECK(contains(error_of([&] { FieldPointer{pointer}; }), "[DATA-10]"));
  }
}

TEST_CASE("A line beyond the usual size is parsed like any other") {
  const std::string text(5 << 20, 'x');
  CHECK(text_at("{\"text\": \"" + text + "\"}", "/text") == text);
  CHECK(text_at("{\"text\": \"\\n" + text + "\\u0000\"}", "/text") == "\n" + text + std::string(1, '\0'));
  CHECK_FALSE(accepted("\"" + text + "\\q\""));
  std::string numbers = "[1e400";
  while (numbers.size() < (3u << 20)) numbers += ",1";
  CHECK(accepted(numbers + "]"));
  CHECK_FALSE(accepted(numbers + ",]"));
}

// Against another parser. What it refuses beyond the grammar (numbers out of range) cannot arise here.
TEST_CASE("Lines are accepted exactly when another parser accepts them") {
  std::mt19937 random(7);
  const std::vector<std::string> parts{"{",       "}",       "[",       "]",      ":",    ",",        "\"",
                                       "\"a\"",   "\"\\n\"", "\\",      "1",      "-",    "0",        ".5",
                                       "e-3",     "true",    "null",    " ",      "\t",   "\xc3\xa9", "\xff",
                                       "\\u00e9", "\\ud83d", "\\ude00", "\"k\":", "[1,2]"};
  const std::vector<std::string> seeds{"{\"a\":[1,2.5,{\"b\":\"c\\n\"}],\"d\":null}", "[[],{},\"\",-0.1e-5,true]"};
  int n_good = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string line;
    if (i % 2 == 0) {
      for (std::size_t n = 1 + random() % 7; n > 0; --n) line += parts[random() % parts.size()];
    } else {
      line = seeds[random() % seeds.size()];
      for (std::size_t n = random() % 3; n > 0; --n)
        line.replace(random() % line.size(), random() % 3, parts[random() % parts.size()]);
    }
    CAPTURE(line);
    const bool good = nlohmann::json::accept(line);
    n_good += good ? 1 : 0;
    REQUIRE(accepted(line) == good);
  }
  CHECK(n_good > 1000);
}
