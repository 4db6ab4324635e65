// What can be written by a JSON schema, and which schemas are refused.
#include "grammar_texts.hpp"

#include "support/catch.hpp"

#include <monomorph/core/text_file.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <random>

using namespace monomorph;
using namespace monomorph::train;
using monomorph::train::testing::accepts;
using monomorph::train::testing::grammar_of_schema;
using monomorph::train::testing::refusal_of_schema;
using nlohmann::ordered_json;

namespace {

ordered_json documents() {
  return ordered_json::parse(read_text_file(MONOMORPH_SOURCE_DIR "/tests/fixtures/json_schemas/documents.json"));
}

/// A text by random bytes, each of which a grammar allows; "" if it becomes too long.
std::string random_text(const ByteGrammar& grammar, std::mt19937& random) {
  GrammarWalk walk(grammar);
  std::vector<GrammarWalk::Place> places;
  walk.begin(places);
  std::string text;
  while (text.size() < 5000) {
    const std::size_t n = places.size();
    std::string bytes, ends;
    for (int byte = 0; byte < 256; ++byte) {
      walk.step(places, 0, n, static_cast<std::uint8_t>(byte));
      if (places.size() > n) bytes += static_cast<char>(byte);
      if (places.size() > n && std::string_view("\"]}").find(static_cast<char>(byte)) != std::string_view::npos)
        ends += static_cast<char>(byte);
      places.resize(n);
    }
    const bool complete = walk.complete(places);
    REQUIRE((complete || !bytes.empty()));  // it can always go on
    if (complete && (bytes.empty() || random() % 2 == 0)) return text;
    const std::string& choice = !ends.empty() && random() % 3 != 0 ? ends : bytes;
    text += choice[random() % choice.size()];
    walk.step(places, 0, n, static_cast<std::uint8_t>(text.back()));
    places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return "";
}

}  // namespace

TEST_CASE("what can be written by a schema is what jsonschema finds valid by it") {
  int n_valid = 0, n_invalid = 0;
  for (const ordered_json& one : documents()) {
    const std::string schema = one["schema"].dump();
    CAPTURE(schema);
    if (one["valid"].empty() && !refusal_of_schema(schema).empty()) continue;
    const ByteGrammar grammar = grammar_of_schema(schema);
    for (const auto& text : one["valid"])
      if (!accepts(grammar, text.get<std::string>())) FAIL_CHECK(text);
    for (const auto& text : one["invalid"])
      if (accepts(grammar, text.get<std::string>())) FAIL_CHECK(text);
    n_valid += static_cast<int>(one["valid"].size()), n_invalid += static_cast<int>(one["invalid"].size());
  }
  CHECK(n_valid > 800);
  CHECK(n_invalid > 600);
}

TEST_CASE("whatever is written by a schema is JSON, and it can always go on to an end") {
  std::mt19937 random(7);
  int n_texts = 0;
  for (const ordered_json& one : documents()) {
    const std::string schema = one["schema"].dump();
    CAPTURE(schema);
    if (!refusal_of_schema(schema).empty()) continue;
    const ByteGrammar grammar = grammar_of_schema(schema);
    for (int i = 0; i < 3; ++i) {
      const std::string text = random_text(grammar, random);
      if (text.empty()) continue;
      CAPTURE(text);
      CHECK_FALSE(ordered_json::parse(text, nullptr, false).is_discarded());
      ++n_texts;
    }
  }
  CHECK(n_texts > 400);
}

TEST_CASE("any JSON object can be written, within bounds that readers of JSON have, too") {
  const ByteGrammar grammar = grammar_of({.document = WantedText::Document{}});
  const auto nested = [](std::size_t levels) {
    return "{\"a\":" + std::string(levels, '[') + std::string(levels, ']') + "}";
  };
  for (const std::string& text : std::initializer_list<std::string>{
           "{}", " {}", "{ }", "{\n  \"a\": [1, -2.5e+10, true, false, null],\n  \"b\": {\"\": \"\"}\n}",
           R"({"a":"\"\\\/\b\f\n\r\t\u00e9\uD83d\ude00\ud7ff\uE000"})", "{\"é日😀\x7F\":0}", nested(50),
           "{\"a\":1234567890123456789.12345678901234567890}", "{\"a\":1,\"a\":2}"}) {
    CAPTURE(text);
    CHECK(accepts(grammar, text));
  }
  for (const std::string& text : std::initializer_list<std::string>{"",
                                                                    "{",
                                                                    "[]",
                                                                    "1",
                                                                    "{} ",
                                                                    "{}}",
                                                                    "  {}",
                                                                    "{a:1}",
                                                                    "{\"a\" 1}",
                                                                    "{\"a\":1,}",
                                                                    "{\"a\":01}",
                                                                    "{\"a\":.5}",
                                                                    "{\"a\":1.}",
                                                                    "{\"a\":+1}",
                                                                    "{\"a\":1e}",
                                                                    "{\"a\":1e999}",
                                                                    "{\"a\":NaN}",
                                                                    "{\"a\":True}",
                                                                    "{\"a\":'b'}",
                                                                    "{\"a\":\"\n\"}",
                                                                    "{\"a\":\"\t\"}",
                                                                    R"({"a":"\x"})",
                                                                    R"({"a":"\u12"})",
                                                                    R"({"a":"\ud800"})",
                                                                    R"({"a":"\ude00"})",
                                                                    R"({"a":"\ud83d\u0041"})",
                                                                    R"({"a":"\ud83dx"})",
                                                                    "{\"a\":\"\xC3\"}",
                                                                    "{\"a\":\"\xA9\"}",
                                                                    "{\"a\":\"\xC0\xAF\"}",
                                                                    "{\"a\":\"\xED\xA0\x80\"}",
                                                                    "{\"a\":\"\xF4\x90\x80\x80\"}",
                                                                    "{\"a\":\"\xE0\x80\x80\"}",
                                                                    "{\"a\":\xFF}",
                                                                    "{\"a\":12345678901234567890}",
                                                                    nested(70),
                                                                    "{\n" + std::string(65, ' ') + "}"}) {
    CAPTURE(text);
    CHECK_FALSE(accepts(grammar, text));
  }
}

TEST_CASE("names are written as JSON has them, and keys beside them are others") {
  const ByteGrammar grammar = grammar_of_schema(
      R"({"type": "object", "properties": {"a\"b\\": {"const": 1}, "\n\u0000": {"const": 2}, "é": {"const": 3},
          "😀": {"const": 4}, "": {"const": 5}, "ab": {"const": 6}}, "additionalProperties": {"const": 0}})");
  CHECK(accepts(grammar, R"({"a\"b\\":1,"\n\u0000":2,"é":3,"😀":4,"":5,"ab":6,"a":0,"abc":0,"ê":0,"😁":0,"b":0})"));
  for (const char* const text : {R"({"é":0})", R"({"😀":0})", R"({"":0})", R"({"ab":0})", R"({"\u00e9":0})",
                                 R"({"\u0061b":0})", R"({"a\"b\\":0})", R"({"ab":6,"é":3})", R"({"a":1})"})
    if (accepts(grammar, text)) FAIL_CHECK(text);
}

TEST_CASE("of properties that may be left out, any may, and the order stays") {
  std::string properties, some = "{", all = "{";
  for (int i = 0; i < 1000; ++i) {
    properties += fmt::format("{}\"p{}\":{{\"type\":\"integer\"}}", i == 0 ? "" : ",", i);
    all += fmt::format("{}\"p{}\": {}", i == 0 ? "" : ", ", i, i);
    if (i % 7 == 3) some += fmt::format("{}\"p{}\":1", some.size() == 1 ? "" : ",", i);
  }
  const ByteGrammar grammar = grammar_of_schema(R"({"type":"object","properties":{)" + properties +
                                                R"(},"required":["p500"],"additionalProperties":false})");
  CHECK(accepts(grammar, all + "}"));
  CHECK(accepts(grammar, "{\"p500\":1}"));
  CHECK(accepts(grammar, "{\"p3\":1,\"p500\":1,\"p999\":1}"));
  CHECK_FALSE(accepts(grammar, "{\"p3\":1,\"p501\":1}"));
  CHECK_FALSE(accepts(grammar, "{\"p500\":1,\"p3\":1}"));
  CHECK_FALSE(accepts(grammar, "{\"p500\":1,\"p500\":1}"));
  CHECK(accepts(grammar, some + "}") == (500 % 7 == 3));
}

TEST_CASE("what a schema asks for that cannot be kept to is refused by its name and where it is") {
  for (const char* const keyword : {"pattern",
                                    "format",
                                    "allOf",
                                    "oneOf",
                                    "not",
                                    "if",
                                    "then",
                                    "else",
                                    "dependentRequired",
                                    "dependentSchemas",
                                    "patternProperties",
                                    "propertyNames",
                                    "unevaluatedProperties",
                                    "prefixItems",
                                    "contains",
                                    "uniqueItems",
                                    "multipleOf",
                                    "minProperties",
                                    "maxProperties",
                                    "nullable",
                                    "$anchor",
                                    "$dynamicRef",
                                    "unheard of"})
    CHECK(refusal_of_schema(fmt::format(R"({{"type": "object", "properties": {{"a": {{"{}": 1}}}}}})", keyword)) ==
          fmt::format("schema.properties.a.{} (unsupported) is not supported here", keyword));
  CHECK(refusal_of_schema(R"({"items": {"anyOf": [{}, {"$ref": "#/$defs/x"}]}, "$defs": {"x": {"format": "date"}}})") ==
        "schema.$defs.x.format (unsupported) is not supported here");
  CHECK(refusal_of_schema(R"({"anyOf": [{}], "type": "object"})") ==
        "schema.type (unsupported) beside anyOf is not supported here");
  CHECK(refusal_of_schema(R"({"$ref": "#/$defs/a", "minimum": 1, "$defs": {"a": {}}})") ==
        "schema.minimum (unsupported) beside $ref is not supported here");
  CHECK(refusal_of_schema(R"({"enum": [1], "minimum": 1})") ==
        "schema.minimum (unsupported) beside enum is not supported here");
  for (const char* const elsewhere : {"https://example.com/a", "other.json#/a", "#anchor"})
    CHECK(refusal_of_schema(fmt::format(R"({{"items": {{"$ref": "{}"}}}})", elsewhere))
              .starts_with("schema.items.$ref (unsupported) names an"));
  CHECK(refusal_of_schema(R"({"minLength": 5000})") == "schema.minLength (unsupported) is supported up to 1024 here");
  CHECK(refusal_of_schema(R"({"maxItems": 1e18})").starts_with("schema.maxItems (unsupported)"));
  // Those that say something to people alone stand anywhere.
  CHECK(refusal_of_schema(R"({"$schema": "x", "$id": "y", "title": "t", "description": "d", "default": {"pattern": 1},
                              "examples": [], "$comment": "c", "anyOf": [{"$ref": "#/definitions/a", "title": "u"}],
                              "definitions": {"a": {"deprecated": true}, "never": {"pattern": "read"}}})") == "");
}

TEST_CASE("schemas that are wrong are refused where they are") {
  const std::pair<const char*, const char*> cases[] = {
      {R"(5)", "schema (wrong) must be a schema"},
      {R"({"properties": {"a": []}})", "schema.properties.a (wrong) must be a schema"},
      {R"({"properties": []})", "schema.properties (wrong)"},
      {R"({"type": "text"})", "schema.type (wrong)"},
      {R"({"type": []})", "schema.type (wrong)"},
      {R"({"type": ["null", 5]})", "schema.type (wrong)"},
      {R"({"enum": []})", "schema.enum (wrong)"},
      {R"({"enum": "a"})", "schema.enum (wrong)"},
      {R"({"anyOf": []})", "schema.anyOf (wrong)"},
      {R"({"anyOf": [1]})", "schema.anyOf.0 (wrong)"},
      {R"({"required": "a"})", "schema.required (wrong)"},
      {R"({"properties": {"a": {}}, "required": ["a", "b"]})",
       "schema.required.1 (wrong) is \"b\", which properties lack"},
      {R"({"required": [1]})", "schema.required.0 (wrong)"},
      {R"({"items": [{}]})", "schema.items (wrong)"},
      {R"({"additionalProperties": 1})", "schema.additionalProperties (wrong)"},
      {R"({"minItems": -1})", "schema.minItems (wrong)"},
      {R"({"maxLength": 1.5})", "schema.maxLength (wrong)"},
      {R"({"minimum": "1"})", "schema.minimum (wrong)"},
      {R"({"exclusiveMinimum": true})", "schema.exclusiveMinimum (wrong)"},
      {R"({"$ref": 5})", "schema.$ref (wrong)"},
      {R"({"$ref": "#/$defs/a"})", "schema.$ref (wrong) names what the schema does not have"},
      {R"({"type": "string", "type": "null"})", "schema.type (wrong) is there twice"},
      {R"({"properties": {"a": {}, "a": {}}})", "schema.properties.a (wrong) is there twice"}};
  for (const auto& [schema, refusal] : cases) {
    CAPTURE(schema, refusal);
    CHECK(refusal_of_schema(schema).starts_with(refusal));
  }
}

TEST_CASE("a schema by which nothing can be written is refused, and one that can be is cut to what can") {
  for (const char* const schema :
       {R"(false)", R"({"$ref": "#"})",
        R"({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})",
        R"({"anyOf": [{"$ref": "#"}, false]})", R"({"type": "string", "enum": [1, null]})",
        R"({"type": "array", "minItems": 3, "maxItems": 2})", R"({"type": "string", "minLength": 2, "maxLength": 1})",
        R"({"type": "integer", "minimum": 0.25, "maximum": 0.75})",
        R"({"type": "number", "exclusiveMinimum": 1, "maximum": 1})",
        R"({"type": "object", "properties": {"a": false}, "required": ["a"]})",
        R"({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]})",
        R"({"type": "array", "items": {"$ref": "#"}, "minItems": 1})"})
    if (refusal_of_schema(schema).find("schema (wrong) leaves nothing to write") != 0) FAIL_CHECK(schema);
  const ByteGrammar grammar = grammar_of_schema(
      R"({"type": "object", "properties": {"a": false, "b": {"$ref": "#"}, "c": {"type": "array", "items": {"enum": ["x"], "type": "null"}}}, "additionalProperties": false})");
  CHECK(accepts(grammar, R"({"b":{"c":[]}})"));
  CHECK_FALSE(accepts(grammar, R"({"a":1})"));
  CHECK_FALSE(accepts(grammar, R"({"c":["x"]})"));
  // Alternatives that lead back to themselves add nothing.
  const ByteGrammar loop = grammar_of_schema(R"({"anyOf": [{"$ref": "#"}, {"type": "string"}]})");
  CHECK(accepts(loop, "\"a\""));
  CHECK_FALSE(accepts(loop, "1"));
}

TEST_CASE("of values beside a constant the one that is it can be written") {
  const ByteGrammar grammar = grammar_of_schema(
      R"({"items": {"enum": ["a", 1, 1.0, [1, {"b": null}], [1, {"b": false}], [1, {"c": null}], "[1,{\"b\":null}]"],
                    "const": [1, {"b": null}]}})");
  CHECK(accepts(grammar, R"([[1,{"b":null}]])"));
  for (const char* const text : {R"(["a"])", "[1]", R"([[1,{"b":false}]])", R"([[1,{"c":null}]])"})
    CHECK_FALSE(accepts(grammar, text));
  const ByteGrammar one = grammar_of_schema(R"({"enum": [1.0, 1, true, "1"], "const": 1})");
  CHECK(accepts(one, "1"));
  for (const char* const text : {"1.0", "true", "\"1\""}) CHECK_FALSE(accepts(one, text));
  CHECK(refusal_of_schema(R"({"enum": ["a"], "const": "b"})").starts_with("schema (wrong) leaves nothing to write"));
  CHECK(
      refusal_of_schema(R"({"enum": [1], "const": 1, "type": "string"})").starts_with("schema (wrong) leaves nothing"));
}

TEST_CASE("schemas that are huge or tangled are read or refused in a moment") {
  const auto repeated = [](int n, const auto& make) {
    std::string text;
    for (int i = 0; i < n; ++i) text += (i == 0 ? "" : ",") + make(i);
    return text;
  };
  const std::string large = " (wrong) the schema is too large";
  // A megabyte of strings; of properties; of references to a thousand alternatives each; of one chain of references.
  CHECK(refusal_of_schema("{\"enum\":[" + repeated(20'000, [](int i) { return fmt::format("\"{}{:040}\"", i, i); }) +
                          "]}") == "schema" + large);
  CHECK(refusal_of_schema("{\"enum\":[" + repeated(3000, [](int i) { return fmt::format("\"value {}\"", i); }) +
                          "]}") == "");
  CHECK(refusal_of_schema("{\"properties\":{" +
                          repeated(30'000, [](int i) { return fmt::format("\"property {}\":{{}}", i); }) + "}}") ==
        "schema" + large);
  CHECK(refusal_of_schema(
            "{\"items\":{\"properties\":{" +
            repeated(9000,
                     [](int i) { return fmt::format("\"{}\":{{\"anyOf\":[{{\"$ref\":\"#/$defs/a\"}},{{}}]}}", i); }) +
            "}},\"$defs\":{\"a\":{\"anyOf\":[" +
            repeated(1000, [](int i) { return fmt::format("{{\"const\":{}}}", i); }) + "]}}}") == "schema" + large);
  CHECK(refusal_of_schema(
            "{\"$ref\":\"#/$defs/0\",\"$defs\":{" +
            repeated(20'000, [](int i) { return fmt::format("\"{}\":{{\"$ref\":\"#/$defs/{}\"}}", i, i + 1); }) +
            ",\"20000\":{\"const\":1}}}") == "");
  CHECK(refusal_of_schema(
            "{\"$ref\":\"#/$defs/0\",\"$defs\":{" +
            repeated(200,
                     [](int i) {
                       return fmt::format(
                           "\"{}\":{{\"type\":\"array\",\"items\":{{\"$ref\":\"#/$defs/{}\"}},\"minItems\":1}}", i,
                           i + 1);
                     }) +
            ",\"200\":{}}}")
            .starts_with("schema (wrong) leaves nothing to write"));
  // Alternatives, and values, that come to nothing, but are gone through for each reference to them.
  for (const std::string& nothing :
       {"{\"anyOf\":[" + repeated(100'000, [](int) { return std::string("false"); }) + "]}",
        "{\"type\":\"null\",\"enum\":[" + repeated(100'000, [](int) { return std::string("1"); }) + "]}",
        "{\"enum\":[\"" + std::string(500'000, 'a') + "\"],\"const\":\"y\"}",
        "{\"enum\":[{\"" + std::string(500'000, 'a') + "\":0}],\"const\":\"y\"}",
        "{\"type\":[" + repeated(100'000, [](int) { return std::string("\"null\""); }) + "]}",
        "{\"properties\":{\"a\":{}},\"required\":[" + repeated(100'000, [](int) { return std::string("\"a\""); }) +
            "]}"})
    CHECK(
        refusal_of_schema(
            "{\"properties\":{" +
            repeated(5000, [](int i) { return fmt::format("\"{}\":{{\"anyOf\":[{{\"$ref\":\"#/$defs/b\"}}]}}", i); }) +
            "},\"$defs\":{\"b\":" + nothing + "}}") == "schema" + large);
  CHECK(refusal_of_schema("{" + repeated(50'000, [](int i) { return fmt::format("\"keyword {}\":1", i); }) + "}") ==
        "schema.keyword 0 (unsupported) is not supported here");
  const std::string long_name(10'000, 'n');
  CHECK(refusal_of_schema("{\"properties\":{\"" + long_name + "\":{\"format\":1}}}").size() < 300);
  CHECK(accepts(grammar_of_schema("{\"properties\":{\"" + long_name + "\":{}}}"), "{\"" + long_name + "\":1}"));
}
