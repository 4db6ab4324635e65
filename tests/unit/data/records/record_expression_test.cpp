#include "unit/data/data_test_support.hpp"

#include <monomorph/data/records/record_expression.hpp>

using namespace monomorph::data;

namespace {

const std::string record = R"({"language": "en", "score": 0.5, "n": 3, "big": 18446744073709551615, "small": -5,
  "good": true, "bad": false, "none": null, "text": "Größe \u00e9 \"quoted\"", "tags": ["a", "b", 7, null],
  "meta": {"source": "web", "a/b": 1, "m~n": 2, "": 3, "with space": 4}})";

Line line_of(const std::string& text) { return {text, 1, 0, true}; }

bool holds(const std::string& expression, const std::string& json = record) {
  return RecordExpression(expression).holds(line_of(json), "a.jsonl");
}

std::string refusal(const std::string& expression) {
  return error_of([&] { const RecordExpression parsed(expression); });
}

}  // namespace

TEST_CASE("Comparisons of a record's fields with values and with each other") {
  for (const char* expression : {R"(/language == "en")",
                                 R"("en" == /language)",
                                 "/score == 0.5",
                                 "/score >= 0.5",
                                 "/score <= 0.5",
                                 "/n > /score",
                                 "/n == 3.0",
                                 "/n != 4",
                                 "/big > 9223372036854775807",
                                 "/big == 18446744073709551615",
                                 "/small < 0",
                                 "/small == -5",
                                 "/small < /big",
                                 "/good",
                                 "/good == true",
                                 "/bad == false",
                                 "/none == null",
                                 "!/bad",
                                 R"(/language < "fr")",
                                 R"(/language >= "EN")",
                                 R"(/text == "Gr\u00f6\u00dfe é \"quoted\"")",
                                 "/meta/source == \"web\"",
                                 "/meta/a~1b == 1",
                                 "/meta/m~0n == 2",
                                 "/tags/2 == 7",
                                 R"(field("/meta/with space") == 4)",
                                 R"(field("/meta/") == 3)",
                                 "true",
                                 "!false",
                                 "1 < 2",
                                 R"(/missing != 1)",
                                 R"(/language != 1)",
                                 "/n==3&&/good"}) {
    INFO(expression);
    CHECK(holds(expression));
  }
  for (const char* expression : {R"(/language == "de")",
                                 "/score > 0.5",
                                 "/big < 0",
                                 "/small > /big",
                                 "/bad",
                                 "/none",
                                 "/n",
                                 "/language",
                                 "/missing == 1",
                                 "/missing == null",
                                 "/missing < 1",
                                 "/missing >= 1",
                                 "!/good",
                                 R"(/n == "3")",
                                 "/good == 1",
                                 R"(/n < "4")",
                                 "/tags == /tags",
                                 "/meta == null",
                                 "/missing",
                                 "/tags/9 == 7",
                                 "false",
                                 "/good > /bad",
                                 "/missing == /missing"}) {
    INFO(expression);
    CHECK_FALSE(holds(expression));
  }
}

TEST_CASE("Numbers beyond the precision of a double are told apart") {
  CHECK(holds("/a == 9007199254740993", R"({"a": 9007199254740993})"));
  CHECK_FALSE(holds("/a == 9007199254740993", R"({"a": 9007199254740992})"));
  CHECK(holds("/a > 9007199254740992.0", R"({"a": 9007199254740993})"));
}

TEST_CASE("What fields contain, how long they are, and whether they exist") {
  for (const char* expression :
       {R"(contains(/text, "öß"))", R"(contains(/tags, "a"))", "contains(/tags, 7)", "contains(/tags, null)",
        R"(contains(/meta, "source"))", R"(contains("abc", "b"))", "exists(/none)", "exists(/meta/source)",
        "length(/text) == 16", "length(/tags) == 4", "length(/meta) == 5", R"(length("éa") == 2)",
        "length(/language) < length(/text)", R"(exists( field("/meta/a~1b") ))"}) {
    INFO(expression);
    CHECK(holds(expression));
  }
  for (const char* expression :
       {R"(contains(/text, "xyz"))", R"(contains(/tags, "c"))", R"(contains(/meta, "web"))", "contains(/meta, 1)",
        R"(contains(/n, "3"))", R"(contains(/missing, "a"))", "contains(/text, 1)", "exists(/missing)",
        "length(/n) >= 0", "length(/missing) >= 0"}) {
    INFO(expression);
    CHECK_FALSE(holds(expression));
  }
  CHECK(holds(R"(field("") == "x")", R"("x")"));
  CHECK(holds(R"(length(field("")) == 2)", "[1, 2]"));
}

TEST_CASE("And binds more than or, not more than both, and parentheses most") {
  CHECK(holds("true || true && false"));
  CHECK_FALSE(holds("(true || true) && false"));
  CHECK_FALSE(holds("!true || false"));
  CHECK(holds("!(true && false)"));
  CHECK(holds("!!true"));
  CHECK(holds("!/n == 4"));  // not (n equals 4)
  CHECK(holds("false||false || (true&&(true))"));
}

TEST_CASE("An expression that makes no sense is refused with the column") {
  const auto at = [](const std::string& expression, int column) {
    const std::string message = refusal(expression);
    INFO(expression << ": " << message);
    CHECK(contains(message, "[DATA-43] column " + std::to_string(column) + " "));
  };
  at("", 1);
  at("   ", 4);
  at("/a =", 4);
  at("/a = 1", 4);
  at("/a == ", 7);
  at("/a == 1 &", 9);
  at("/a == 1 && ", 12);
  at("/a == 1 /b == 2", 9);
  at("(/a == 1", 9);
  at("/a == 1)", 8);
  at("/a == en", 7);
  at("/a == 'en'", 7);
  at("/a == \"en", 7);
  at("\"é\" == \"en", 8);
  at("/a == \"\\q\"", 7);
  at("1", 1);
  at("\"a\"", 1);
  at("null", 1);
  at("length(/a)", 1);
  at("length /a", 1);
  at("exists(1)", 8);
  at("contains(/a)", 12);
  at("contains(/a, 1", 15);
  at("text == 1", 1);
  at("/a~2 == 1", 1);
  at("field(/a) == 1", 7);
  at("field(\"a\") == 1", 1);
  at("/a == [1]", 7);
  at("/a === 1", 6);
  at("/a == 01", 7);
  at("/a <> 1", 5);
  CHECK(contains(refusal(std::string("/a == 1\0x", 10)), "[DATA-43]"));
  CHECK(contains(refusal(std::string(100000, '(') + "true"), "[DATA-43]"));
  CHECK(contains(refusal(std::string(100000, '!') + "true"), "[DATA-43]"));
  std::string lengths;
  for (int i = 0; i < 100000; ++i) lengths += "length(";
  CHECK(contains(refusal(lengths), "[DATA-43]"));
  CHECK(holds(std::string(100, '(') + "true" + std::string(100, ')')));
}

TEST_CASE("A line that is no JSON is an error that names it") {
  RecordExpression expression("/a == 1");
  const std::string broken = "{\"a\": 1";
  const Line line{broken, 12, 345, true};
  const std::string error = error_of([&] { expression.holds(line, "a.jsonl"); });
  CHECK(contains(error, "[DATA-02]"));
  CHECK(contains(error, "line 12 (byte 345)"));
  for (const std::string json : {"", " ", "{\"a\": \"\xff\"}", "{\"a\": 1} 2", "nul"}) {
    INFO(json);
    CHECK(contains(error_of([&] { expression.holds(line_of(json), "a.jsonl"); }), "[DATA-02]"));
  }
}

TEST_CASE("A condition reads a record as packing it does") {
  CHECK(holds("/a == 1", "\xEF\xBB\xBF{\"a\": 1}"));
  CHECK(holds("/a == 2", R"({"a": 1, "a": 2})"));
  CHECK_FALSE(holds("/a == 1", R"({"a": 1, "a": 2})"));
  CHECK(holds("/a/b == 3", R"({"a": {"b": 1}, "a": {"b": 2, "b": 3}})"));
  CHECK_FALSE(holds("exists(/a/b)", R"({"a": {"b": 1}, "a": 2})"));
  const std::string long_text(300'000, 'x');
  CHECK(holds("length(/a) == 300000 && /b == 7", R"({"a": ")" + long_text + R"(", "b": 7})"));
  CHECK(contains(error_of([&] { holds("true", '"' + std::string(std::size_t{18} << 20, 'x') + '"'); }), "[DATA-20]"));
}

TEST_CASE("Where a number is beyond 64 bits, texts are compared as ever, and numbers are refused") {
  for (const char* number : {"123456789012345678901234567890", "1e400", "-1e999"}) {
    INFO(number);
    const std::string json = R"({"n": )" + std::string(number) + R"(, "m": 3, "text": "a 12", "list": [1]})";
    CHECK(holds(R"(/text == "a 12" && exists(/n) && length(/list) == 1)", json));
    for (const char* expression : {"/n > 5", "/m == 3", "contains(/list, 1)", "/m", "/text != /n"}) {
      INFO(expression);
      CHECK(contains(error_of([&] { holds(expression, json); }), "[DATA-54] \"a.jsonl\", line 1 (byte 0): "));
    }
  }
}

TEST_CASE("Fields that no record has are known, but not those that are only asked to exist") {
  RecordExpression expression("/a == 1 && (/b == 2 || /typo == 3) && !exists(/spam)");
  using Fields = std::vector<std::string>;
  CHECK(expression.fields_never_found() == Fields{"/a", "/b", "/typo"});
  expression.holds(line_of(R"({"b": 5})"), "a.jsonl");
  CHECK(expression.fields_never_found() == Fields{"/a", "/typo"});
  expression.holds(line_of(R"({"a": 0})"), "a.jsonl");
  CHECK(expression.fields_never_found() == Fields{"/typo"});
}
