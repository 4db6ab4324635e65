#include "core/json_text.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

using namespace monomorph;
using monomorph::testing::contains;
using namespace std::string_literals;

TEST_CASE("what follows a NUL byte is not ignored, and a number beyond fp64 has no value") {
  CHECK(parsed_json("{\"a\": 1}").at("a") == 1);
  for (const std::string& text : {"{\"a\": 1}\0"s, "{\"a\": 1}\0{"s, "{\"a\": \0 1}"s, "{\"a\": 1e400}"s, "{"s, ""s}) {
    CAPTURE(text);
    CHECK(parsed_json(text).is_discarded());
    CHECK(parsed_ordered_json(text).is_discarded());
    CHECK_FALSE(json_mistake(text).empty());
  }
  CHECK(parsed_json("123456789012345678901234567890").get<double>() == 123456789012345678901234567890.0);
  CHECK(parsed_ordered_json(R"({"b": 1, "a": 2})").dump() == R"({"b":1,"a":2})");
}

TEST_CASE("a JSON text whose values lie too deep in each other for recursion has no value") {
  const auto nested = [](int levels) {
    return "{\"[[\\\"[[\": " + std::string(levels - 1, '[') + std::string(levels - 1, ']') + "}";
  };
  CHECK(parsed_json(nested(most_json_levels)).is_object());
  CHECK(parsed_ordered_json(nested(most_json_levels)).is_object());
  for (const int levels : {most_json_levels + 1, 1'000'000}) {
    CHECK(parsed_json(nested(levels)).is_discarded());
    CHECK(parsed_ordered_json(nested(levels)).is_discarded());
    CHECK(json_mistake(nested(levels)) == "values lie more than 256 deep in each other (column 267)");
  }
  std::string wide = "[[]";
  for (int i = 0; i < 1000; ++i) wide += ", [[], {}]";
  CHECK(parsed_json(wide + "]").size() == 1001);
}

TEST_CASE("why a text is no JSON is said with its place, in one line, and without a library's names") {
  CHECK(json_mistake("{\"a\": 1}\0x"s) == "there is a NUL byte (column 9)");
  CHECK(json_mistake("{\n\0}"s) == "there is a NUL byte (line 2, column 1)");
  CHECK(json_mistake("{\"a\": 1e400}") == "number overflow parsing '1e400' (column 11)");
  CHECK(contains(json_mistake("{\n\"a\" 1}"), "unexpected number literal"));
  CHECK(contains(json_mistake("{\n\"a\" 1}"), "(line 2, column 5)"));
  CHECK(contains(json_mistake("[1, 2"), "unexpected end of input"));
  for (const std::string& text :
       {"{\"\x1b[31m\": 1,}"s, "\"\xff\n\x07\""s, std::string(100'000, '['), "[\n\n"s + std::string(9000, 'x')}) {
    const std::string mistake = json_mistake(text);
    CAPTURE(mistake);
    CHECK_FALSE(contains(mistake, "json.exception"));
    CHECK(mistake.size() < 200);
    for (const char c : mistake) CHECK((c >= 0x20 && c < 0x7f));
  }
}
