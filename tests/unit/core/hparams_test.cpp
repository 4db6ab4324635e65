#include "support/catch.hpp"
#include "support/error_of.hpp"

#include "core/edit_distance.hpp"
#include "core/json_text.hpp"

#include <monomorph/core/hparams.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>

namespace hparams_test {

using monomorph::Field;

enum class Colour { red, green };

struct Inner {
  Field<Colour> colour{Colour::green, "which colour"};
  Field<bool> glossy{false, "how it shines"};
};
struct Middle {
  Field<double> ratio{0.5, 0.0, 1.0, "a ratio"};
  Inner inner;
};
struct Sample {
  Field<std::int64_t> count{3, 1, 100, "how many"};
  Middle middle;
  Field<std::string> path{"a", "where"};
  Field<std::optional<std::int64_t>> limit{std::nullopt, "all", 1, 50, "the most"};
};

}  // namespace hparams_test

template <> struct monomorph::EnumNames<hparams_test::Colour> {
  static constexpr std::string_view names[] = {"red", "green"};
};
BOOST_HANA_ADAPT_STRUCT(hparams_test::Inner, colour, glossy);
BOOST_HANA_ADAPT_STRUCT(hparams_test::Middle, ratio, inner);
BOOST_HANA_ADAPT_STRUCT(hparams_test::Sample, count, middle, path, limit);

namespace hparams_test {

using namespace monomorph;
using namespace monomorph::testing;

Sample read(const std::string& json) {
  Sample sample;
  read_fields(fields_of(sample), json, "run.json");
  return sample;
}

std::string error_in(const std::string& json) {
  return error_of([&] { read(json); });
}

Sample set(const std::string& assignment) {
  Sample sample;
  set_field(fields_of(sample), assignment);
  return sample;
}

bool says(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* const part : parts) {
    UNSCOPED_INFO(message);
    if (!contains(message, part)) return false;
  }
  return true;
}

TEST_CASE("fields are found through all sections, in order, with dotted names") {
  Sample sample;
  std::vector<std::string> names;
  for (const FieldRef& field : fields_of(sample)) names.push_back(field.name);
  CHECK(names == std::vector<std::string>{"count", "middle.ratio", "middle.inner.colour", "middle.inner.glossy", "path",
                                          "limit"});
}

TEST_CASE("a JSON object overwrites what it names and nothing else") {
  const Sample sample =
      read(R"({"middle": {"inner": {"colour": "red", "glossy": true}}, "limit": 7, "path": "b \u00fc\n"})");
  CHECK(sample.middle.inner.colour == Colour::red);
  CHECK(sample.middle.inner.glossy);
  CHECK(sample.limit.value == 7);
  CHECK(sample.path.value == "b ü\n");
  CHECK(sample.count == 3);
  CHECK(sample.middle.ratio == 0.5);
  CHECK_FALSE(read(R"({"limit": "all"})").limit.value.has_value());
  CHECK(read("{}").count == 3);
  CHECK(read(" \n{ \"middle\": {} }\r\n").count == 3);
}

TEST_CASE("whole numbers may be written with an exponent or .0, reals without a point") {
  CHECK(read(R"({"count": 1e1})").count == 10);
  CHECK(read(R"({"count": 2.0})").count == 2);
  CHECK(read(R"({"middle": {"ratio": 1}})").middle.ratio == 1.0);
}

TEST_CASE("bounds are inclusive") {
  CHECK(read(R"({"count": 1})").count == 1);
  CHECK(read(R"({"count": 100})").count == 100);
  CHECK(says(error_in(R"({"count": 0})"), {"[HPARAM-03] count", "from 1 to 100", "not 0", "how many"}));
  CHECK(says(error_in(R"({"count": 101})"), {"[HPARAM-03] count", "not 101"}));
  CHECK(says(error_in(R"({"limit": 51})"), {"[HPARAM-03] limit", "from 1 to 50 or \"all\""}));
  CHECK(says(error_in(R"({"middle": {"ratio": 1.0000000000000002}})"),
             {"[HPARAM-03] middle.ratio", "1.0000000000000002"}));
  CHECK(says(error_in(R"({"middle": {"ratio": -1e-300}})"), {"[HPARAM-03] middle.ratio", "from 0 to 1", "a ratio"}));
}

TEST_CASE("an unknown key names file, line and the nearest known key") {
  CHECK(says(error_in("{\n\"midle\": {}}"), {"[HPARAM-01] \"midle\"", "run.json:2", "\"middle\""}));
  CHECK(says(error_in("{\"middle\": {\n\n\"ration\": 1}}"), {"\"middle.ration\"", "run.json:3", "\"middle.ratio\""}));
  CHECK(says(error_in(R"({"colour": "red"})"), {"nearest known key is \"middle.inner.colour\""}));
  CHECK(says(error_in(R"({"middle.ratio": 1})"), {"[HPARAM-01] \"middle.ratio\"", "dot"}));
  CHECK(says(error_in(R"({"": 1})"), {"[HPARAM-01] \"\""}));
  CHECK(says(error_in(R"({"a\nb\u0000": 1})"), {"[HPARAM-01]", "\\x0a"}));
  CHECK(says(error_in("{\"" + std::string(900'000, 'x') + "\": 1}"), {"[HPARAM-01]", "nearest"}));
  CHECK(error_in("{\"" + std::string(900'000, 'x') + "\": 1}").size() < 1000);
}

TEST_CASE("an error's line is the one of the key, whatever follows the value") {
  CHECK(says(error_in("{\n\n\"count\": 1000\n\n\n}"), {"run.json:3"}));
  CHECK(says(error_in("{\r\n\"count\":\n 0}"), {"run.json:2"}));
}

TEST_CASE("a value of another type is refused, with its field and what is wanted") {
  for (const std::string value : {"1.5", "\"3\"", "true", "null", "[1]", "{}", "1e-3"}) {
    CHECK(says(error_in("{\"count\": " + value + "}"), {"[HPARAM-02] count must be a whole number", "(run.json:1)"}));
  }
  for (const std::string value : {"\"0.5\"", "false", "null", "[]", "{}"}) {
    CHECK(says(error_in("{\"middle\": {\"ratio\": " + value + "}}"), {"[HPARAM-02] middle.ratio must be a number"}));
  }
  for (const std::string value : {"0", "1", "\"true\"", "null"}) {
    CHECK(says(error_in("{\"middle\": {\"inner\": {\"glossy\": " + value + "}}}"), {"[HPARAM-02]", "true or false"}));
  }
  CHECK(says(error_in(R"({"path": 3})"), {"[HPARAM-02] path must be a string, not 3"}));
  CHECK(says(error_in(R"({"limit": "al"})"), {"[HPARAM-02] limit", "\"all\", not \"al\""}));
  CHECK(says(error_in(R"({"limit": null})"), {"[HPARAM-02] limit"}));
  CHECK(says(error_in(R"({"middle": {"inner": {"colour": "blue"}}})"),
             {"[HPARAM-03]", "\"red\", \"green\"", "\"blue\""}));
  CHECK(says(error_in(R"({"middle": {"inner": {"colour": 1}}})"), {"[HPARAM-02] middle.inner.colour"}));
  for (const std::string value : {"3", "null", "\"x\"", "[{}]"}) {
    CHECK(says(error_in("{\"middle\": " + value + "}"), {"[HPARAM-02] middle must be an object"}));
  }
}

TEST_CASE("numbers that no computer format holds are refused") {
  CHECK(says(error_in(R"({"count": 1e999})"), {"[HPARAM-03] count", "run.json:1"}));
  CHECK(says(error_in(R"({"middle": {"ratio": -1e999}})"), {"[HPARAM-03] middle.ratio"}));
  CHECK(says(error_in(R"({"count": 99999999999999999999})"), {"[HPARAM-03] count", "99999999999999999999"}));
  CHECK(says(error_in(R"({"count": 18446744073709551615})"), {"[HPARAM-03] count", "18446744073709551615"}));
  CHECK(says(error_in(R"({"count": -9223372036854775809})"), {"[HPARAM-03] count"}));
  CHECK(says(error_in(R"({"count": )" + std::string(500'000, '9') + "}"), {"[HPARAM-03] count"}));
}

TEST_CASE("a key may be given once") {
  CHECK(says(error_in("{\"count\": 1,\n\"count\": 2}"), {"[HPARAM-04] count", "run.json:2", "line 1"}));
  CHECK(says(error_in("{\"middle\": {\"ratio\": 1, \"ratio\": 1}}"), {"[HPARAM-04] middle.ratio"}));
  CHECK(says(error_in("{\"middle\": {}, \"middle\": {}}"), {"[HPARAM-04] middle "}));
}

TEST_CASE("a NUL byte ends no file: it is refused with its place, wherever it is") {
  using namespace std::string_literals;
  CHECK(says(error_in("{\"count\": 3}\n\0{\"count\": 4}"s), {"[HPARAM-05]", "run.json:2", "NUL byte", "column 1"}));
  CHECK(says(error_in("{\"count\": 3}\0"s), {"[HPARAM-05]", "run.json:1", "NUL byte", "column 13"}));
  CHECK(says(error_in("{\n\0\"count\": 3}"s), {"[HPARAM-05]", "run.json:2", "NUL byte"}));
  CHECK(says(error_in("{\"path\": \"a\0b\"}"s), {"[HPARAM-05]", "run.json:1", "NUL byte"}));
  CHECK(read(R"({"path": "a\u0000b"})").path.value == "a\0b"s);
}

TEST_CASE("what is not one JSON object is refused with its line") {
  for (const std::string text : {"",
                                 " \n\t\r\n",
                                 "[]",
                                 "3",
                                 "null",
                                 "\"count\"",
                                 "{",
                                 "{\"count\"",
                                 "{\"count\":",
                                 "{\"count\": 1",
                                 "{\"count\": 1,}",
                                 "{\"count\": 1} x",
                                 "{\"count\": 1}{}",
                                 "{'count': 1}",
                                 "{count: 1}",
                                 "{\"count\": NaN}",
                                 "{\"count\": Infinity}",
                                 "{\"count\": -}",
                                 "{\"count\": 1x1}",
                                 "{\"middle\": {\"ratio\": 01}}",
                                 "{\"count\": 1 /* no */}",
                                 "{\"path\": \"\xff\"}",
                                 "{\"\xc3\x28\": 1}",
                                 "{\"path\": \"\xed\xa0\x80\"}",
                                 "{\"path\": \"\\ud800\"}",
                                 "{\"path\": \"a\tb\"}",
                                 "\xff\xfe{}"}) {
    CAPTURE(text);
    CHECK(says(error_in(text), {"[HPARAM-05]", "run.json:1"}));
  }
  CHECK(says(error_in(std::string("{\"path\": \"a\0b\"}", 15)), {"[HPARAM-05]"}));
  CHECK(says(error_in(std::string("\0", 1)), {"[HPARAM-05]"}));
  CHECK(says(error_in("{\n\"count\": 1,\n\n\"middle\": {\"ratio\" 1}}"), {"run.json:4", "middle.ratio"}));
  CHECK(says(error_in("{\"middle\": {\n\"ratio\": NaN}}"), {"run.json:2", "middle.ratio"}));
  CHECK(says(error_in("{\"count\": 1\n"), {"run.json:1"}));
}

TEST_CASE("nesting is refused where it begins") {
  CHECK(says(error_in(std::string(1'000'000, '[')), {"[HPARAM-05]"}));
  CHECK(says(error_in("{\"count\": " + std::string(900'000, '[')), {"[HPARAM-02] count", "an array"}));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"middle\":";
  CHECK(says(error_in(objects), {"[HPARAM-01] \"middle.middle\""}));
}

namespace {

/// That each line of a message begins with one of these, in their order.
void check_lines(const std::vector<std::string>& lines, const std::vector<std::string>& beginnings) {
  CHECK(lines.size() == beginnings.size());
  for (std::size_t i = 0; i < std::min(lines.size(), beginnings.size()); ++i) {
    CAPTURE(i, lines[i], beginnings[i]);
    CHECK(lines[i].starts_with(beginnings[i]));
  }
}

std::vector<std::string> error_lines_in(const std::string& json) {
  return error_lines_of([&] { read(json); });
}

}  // namespace

TEST_CASE("all mistakes of a text are told, in its order, each on its line") {
  const auto lines = error_lines_in(R"({
"cuont": {"count": 0, "deep": [[{"count": 0}]]},
"count": 0,
"middle": {"ratio": "x", "inner": {
  "colour": "blue",
  "shine": [1, {"colour": 2}],
  "glossy": 1}, "rato": 2},
"count": 5,
"path": {"a": {"count": 1}, "b": []},
"limit": [["all"], [[]]],
"middle": {"ratio": 7},
"limit.all": 3,
"path": 4
})");
  check_lines(lines, {"[HPARAM-01] \"cuont\"", "[HPARAM-03] count", "[HPARAM-02] middle.ratio",
                      "[HPARAM-03] middle.inner.colour", "[HPARAM-01] \"middle.inner.shine\"",
                      "[HPARAM-02] middle.inner.glossy", "[HPARAM-01] \"middle.rato\"", "[HPARAM-04] count",
                      "[HPARAM-02] path", "[HPARAM-02] limit", "[HPARAM-04] middle", "[HPARAM-01] \"limit.all\"",
                      "[HPARAM-04] path"});
  const std::vector<std::string> places{"2", "3", "4", "5", "6", "7", "7", "8", "9", "10", "11", "12", "13"};
  for (std::size_t i = 0; i < std::min(lines.size(), places.size()); ++i)
    CHECK(contains(lines[i], "run.json:" + places[i] + (contains(lines[i], "-04") ? "," : ")")));
}

TEST_CASE("what is no JSON ends the list of mistakes") {
  check_lines(error_lines_in("{\"count\": 0,\n\"middle\": {\"ratio\": 2,}, \"limit\": 0}"),
              {"[HPARAM-03] count", "[HPARAM-03] middle.ratio", "[HPARAM-05] a hyperparameter file must be one JSON"});
  check_lines(error_lines_in("{\"count\": 0, \"limit\": 1e999, \"path\": 1}"),
              {"[HPARAM-03] count", "[HPARAM-03] limit"});
  check_lines(error_lines_in("{\"cuont\": 1e999, \"path\": 1}"), {"[HPARAM-01] \"cuont\"", "[HPARAM-05]"});
  check_lines(error_lines_in("[{\"count\": 0}]"), {"[HPARAM-05]"});
  check_lines(error_lines_in("{\"two\\nlines\": 1,}"), {"[HPARAM-01]", "[HPARAM-05]"});
}

TEST_CASE("of very many mistakes the first ones are told, and the others counted, in no time") {
  constexpr std::size_t n = 170'000;
  for (const std::string entry : {"\"a\":0", "\"count\":0"}) {
    std::string text = "{";
    for (std::size_t i = 0; i < n; ++i) text += entry + (i + 1 < n ? ",\n" : "}");
    const auto lines = error_lines_in(text);
    REQUIRE(lines.size() == 21);
    CHECK(lines[19].starts_with(entry == "\"a\":0" ? "[HPARAM-01]" : "[HPARAM-04]"));
    CHECK(lines[20].starts_with("[HPARAM-07] all mistakes must be corrected, and " + std::to_string(n - 20) +
                                " more are not shown"));
  }
}

TEST_CASE("a value given by --set is checked like a file") {
  CHECK(set("middle.ratio=0.25").middle.ratio == 0.25);
  CHECK(set("middle.ratio=2.5e-1").middle.ratio == 0.25);
  CHECK(set("count=1e1").count == 10);
  CHECK(set("middle.inner.colour=red").middle.inner.colour == Colour::red);
  CHECK(set("middle.inner.glossy=true").middle.inner.glossy);
  CHECK(set("path=x=y z").path.value == "x=y z");
  CHECK(set("path=").path.value.empty());
  CHECK(set("path=17").path.value == "17");
  CHECK(set("limit=4").limit.value == 4);
  CHECK_FALSE(set("limit=all").limit.value.has_value());
  const auto error = [](const std::string& assignment) { return error_of([&] { set(assignment); }); };
  CHECK(says(error("middle.rato=1"), {"[HPARAM-01]", "--set", "\"middle.ratio\""}));
  CHECK(says(error("middle=1"), {"[HPARAM-01]", "--set", "\"middle.ratio\""}));
  CHECK(says(error("count=0"), {"[HPARAM-03] count", "--set"}));
  for (const std::string value :
       {"", "nan", "inf", "1,5", "0x10", "1 2", "true", "[1]", "{}", "null", "1.5", "'1'", "1e999"}) {
    CHECK(says(error("count=" + value), {"[HPARAM-02] count", "--set"}));
  }
  CHECK(says(error("count"), {"[HPARAM-06]", "\"count\""}));
  CHECK(says(error("=3"), {"[HPARAM-06]"}));
  CHECK(says(error(""), {"[HPARAM-06]"}));
  CHECK(says(error("path=\xff"), {"[HPARAM-02] path", "UTF-8"}));
}

TEST_CASE("JSON of all fields reads back to the same bits") {
  for (const double ratio : {0.1, 1.0 / 3.0, 5e-324, 2.2250738585072014e-308, 0.0, 1.0, std::nextafter(1.0, 0.0)}) {
    Sample sample;
    sample.middle.ratio.value = ratio;
    sample.middle.inner.colour.value = Colour::red;
    sample.path.value = "tab\t quote\" backslash\\ ü \x01";
    sample.limit.value = 9;
    const std::string json = fields_to_json(fields_of(sample));
    const Sample again = read(json);
    CHECK(again.middle.ratio.value == ratio);
    CHECK(again.path.value == sample.path.value);
    CHECK(again.limit.value == 9);
    CHECK(again.middle.inner.colour == Colour::red);
    Sample copy = again;
    CHECK(fields_to_json(fields_of(copy)) == json);
  }
}

TEST_CASE("JSON of all fields is laid out for people") {
  Sample sample;
  CHECK(fields_to_json(fields_of(sample)) == R"({
  "count": 3,
  "middle": {
    "ratio": 0.5,
    "inner": {
      "colour": "green",
      "glossy": false
    }
  },
  "path": "a",
  "limit": "all"
}
)");
}

TEST_CASE("the schema describes every field") {
  Sample sample;
  const auto schema = nlohmann::json::parse(fields_to_schema(fields_of(sample), "Sample"));
  CHECK(schema["$schema"] == "https://json-schema.org/draft/2020-12/schema");
  CHECK(schema["title"] == "Sample");
  CHECK(schema["additionalProperties"] == false);
  const auto& count = schema["properties"]["count"];
  CHECK(count == nlohmann::json::parse(
                     R"({"type": "integer", "minimum": 1, "maximum": 100, "default": 3, "description": "how many"})"));
  const auto& middle = schema["properties"]["middle"];
  CHECK(middle["type"] == "object");
  CHECK(middle["additionalProperties"] == false);
  CHECK(middle["properties"]["ratio"]["maximum"] == 1);
  const auto& inner = middle["properties"]["inner"]["properties"];
  CHECK(inner["colour"]["enum"] == nlohmann::json::parse(R"(["red", "green"])"));
  CHECK(inner["colour"]["default"] == "green");
  CHECK(inner["glossy"]["type"] == "boolean");
  CHECK(schema["properties"]["limit"]["anyOf"] ==
        nlohmann::json::parse(R"([{"type": "integer", "minimum": 1, "maximum": 50}, {"const": "all"}])"));
}

TEST_CASE("numbers in JSON are the shortest that read back") {
  CHECK(json_number(0.1) == "0.1");
  CHECK(json_number(1e-8) == "1e-08");
  CHECK(json_number(1.0) == "1");
  CHECK(json_number(-0.0) == "-0");
  CHECK(json_number(5e-324) == "5e-324");
  CHECK(json_number(9007199254740993.0) == "9007199254740992");
  CHECK(json_number(std::numeric_limits<double>::quiet_NaN()) == "\"NaN\"");
  CHECK(json_number(-std::numeric_limits<double>::infinity()) == "\"-Infinity\"");
  CHECK(json_string("a\"\\\n\x1f") == R"("a\"\\\n\u001f")");
  CHECK(json_string("\xff") == "\"\xef\xbf\xbd\"");
}

TEST_CASE("edit distance counts insertions, deletions and replacements") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("flaw", "lawn") == 2);
  CHECK(edit_distance("lr", "lr") == 0);
}

}  // namespace hparams_test
