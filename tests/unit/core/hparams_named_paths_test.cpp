// A hyperparameter that names one file, or several with names.
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/core/hparams.hpp>

#include <nlohmann/json.hpp>

namespace hparams_named_paths_test {

using monomorph::Field, monomorph::NamedPaths;

struct Data {
  Field<NamedPaths> sets{{}, "which sets"};
  Field<bool> shuffle{true, "in which order"};
};
struct Sample {
  Data data;
};

}  // namespace hparams_named_paths_test

BOOST_HANA_ADAPT_STRUCT(hparams_named_paths_test::Data, sets, shuffle);
BOOST_HANA_ADAPT_STRUCT(hparams_named_paths_test::Sample, data);

namespace hparams_named_paths_test {

using namespace monomorph;
using namespace monomorph::testing;

Sample read(const std::string& json) {
  Sample sample;
  read_fields(fields_of(sample), json, "run.json");
  return sample;
}

NamedPaths sets(const std::string& value) { return read(R"({"data": {"sets": )" + value + "}}").data.sets.value; }

Sample set(const std::string& assignment) {
  Sample sample;
  set_field(fields_of(sample), assignment);
  return sample;
}

TEST_CASE("sets are one path, or an object of names and paths, whose order is that of the names") {
  CHECK(sets(R"("a.pbin")") == NamedPaths{{"", "a.pbin"}});
  CHECK(sets(R"("")").empty());
  CHECK(sets(R"({"b": "x", "a": "y"})") == NamedPaths{{"a", "y"}, {"b", "x"}});
  const Sample sample = read("{\"data\": {\"sets\": {\n\"a\": \"x\"},\n\"shuffle\": false}}");
  CHECK(sample.data.sets.value.size() == 1);
  CHECK_FALSE(sample.data.shuffle.value);
}

TEST_CASE("sets can be set on the command line, as a path or as an object") {
  CHECK(set("data.sets=a b.pbin").data.sets.value == NamedPaths{{"", "a b.pbin"}});
  CHECK(set("data.sets=").data.sets.value.empty());
  CHECK(set(R"(data.sets={"a": "x", "b": "y"})").data.sets.value == NamedPaths{{"a", "x"}, {"b", "y"}});
  CHECK(contains(error_of([] { set(R"(data.sets={"a": "x")"); }), "[HPARAM-02] data.sets"));
  CHECK(contains(error_of([] { set(R"(data.sets={"a": "x"}, "shuffle": false)"); }), "[HPARAM-02] data.sets"));
}

TEST_CASE("sets read back as they were written") {
  for (const NamedPaths& paths :
       {NamedPaths{}, {{"", "a"}}, {{"a", "x"}}, {{"", "z"}, {"a", "y"}, {"b", "x \"quoted\"\n"}}}) {
    Sample sample;
    sample.data.sets.value = paths;
    CHECK(read(fields_to_json(fields_of(sample))).data.sets.value == paths);
  }
}

TEST_CASE("wrong sets are refused with line and field, and what follows is read") {
  const auto refused = [](const std::string& value, std::initializer_list<const char*> parts) {
    const std::string error = error_of([&] { sets(value); });
    CAPTURE(value, error);
    for (const char* const part : parts) CHECK(contains(error, part));
    CHECK(error.find('\n') == std::string::npos);
  };
  refused("{}", {"[HPARAM-03]", "data.sets", "an empty object", "run.json:1"});
  refused("[\"a\"]", {"[HPARAM-02]", "data.sets", "an array"});
  refused("{\n\"a\": 7}", {"[HPARAM-02]", "data.sets.\"a\"", "not 7", "run.json:2"});
  refused(R"({"a": {"path": "x"}})", {"[HPARAM-02]", "data.sets.\"a\"", "an object"});
  refused(R"({"a": ["x"]})", {"[HPARAM-02]", "data.sets.\"a\"", "an array"});
  refused(R"({"a": "x", "a": "y"})", {"[HPARAM-04]", "data.sets.\"a\""});
  refused("3", {"[HPARAM-02]", "data.sets", "not 3"});
  const auto lines =
      error_lines_of([] { read(R"({"data": {"sets": {"a": 1, "b": {"c": [2]}, "a": [[3]]}, "shuffle": 4}})"); });
  REQUIRE(lines.size() == 4);
  CHECK(contains(lines[3], "data.shuffle"));
}

TEST_CASE("the schema of sets has both forms") {
  Sample sample;
  const auto schema = nlohmann::json::parse(fields_to_schema(fields_of(sample), "test"));
  const auto& forms = schema["properties"]["data"]["properties"]["sets"]["anyOf"];
  CHECK(forms[0]["type"] == "string");
  CHECK(forms[1]["additionalProperties"]["type"] == "string");
}

}  // namespace hparams_named_paths_test
