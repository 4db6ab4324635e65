// A hyperparameter that names one file, or several with weights.
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/core/hparams.hpp>

#include <nlohmann/json.hpp>

namespace hparams_paths_test {

using monomorph::Field, monomorph::WeightedPaths;

struct Data {
  Field<WeightedPaths> files{{}, "which files"};
  Field<bool> shuffle{true, "in which order"};
};
struct Sample {
  Data data;
};

}  // namespace hparams_paths_test

BOOST_HANA_ADAPT_STRUCT(hparams_paths_test::Data, files, shuffle);
BOOST_HANA_ADAPT_STRUCT(hparams_paths_test::Sample, data);

namespace hparams_paths_test {

using namespace monomorph;
using namespace monomorph::testing;

Sample read(const std::string& json) {
  Sample sample;
  read_fields(fields_of(sample), json, "run.json");
  return sample;
}

WeightedPaths files(const std::string& value) { return read(R"({"data": {"files": )" + value + "}}").data.files.value; }

Sample set(const std::string& assignment) {
  Sample sample;
  set_field(fields_of(sample), assignment);
  return sample;
}

TEST_CASE("files are one path or an array of paths with weights") {
  CHECK(files(R"("a.pbin")") == WeightedPaths{{"a.pbin"}});
  CHECK(files(R"("")").empty());
  CHECK(files(R"("[a.pbin]")") == WeightedPaths{{"[a.pbin]"}});
  CHECK(files(R"(["a.pbin"])") == WeightedPaths{{"a.pbin"}});
  CHECK(files(R"(["a", {"path": "b", "weight": 0.25}, {"weight": 3, "path": "c"}, {"path": "d"}])") ==
        WeightedPaths{{"a", 1}, {"b", 0.25}, {"c", 3}, {"d", 1}});
  const Sample sample = read("{\"data\": {\"files\": [\n\"a\",\n\"b\"],\n\"shuffle\": false}}");
  CHECK(sample.data.files.value.size() == 2);
  CHECK_FALSE(sample.data.shuffle.value);
}

TEST_CASE("files can be set on the command line, as a path or as an array") {
  CHECK(set("data.files=a b.pbin").data.files.value == WeightedPaths{{"a b.pbin"}});
  CHECK(set("data.files=").data.files.value.empty());
  CHECK(set(R"(data.files=["a", {"path": "b", "weight": 2}])").data.files.value == WeightedPaths{{"a"}, {"b", 2}});
  const std::string error = error_of([] { set(R"(data.files=["a", {"path": "b", "weight": 0}])"); });
  CAPTURE(error);
  CHECK((contains(error, "[HPARAM-03]") && contains(error, "data.files[1].weight") && contains(error, "--set")));
  CHECK(contains(error_of([] { set(R"(data.files=["a")"); }), "[HPARAM-02] data.files"));
  CHECK(contains(error_of([] { set(R"(data.files=["a"], "shuffle": false)"); }), "[HPARAM-02] data.files"));
}

TEST_CASE("files read back as they were written") {
  for (const WeightedPaths& paths :
       {WeightedPaths{}, {{"a"}}, {{"a", 0.5}}, {{"a", 0.1 + 0.2}, {"b \"quoted\"\n", 1e-9}, {"c", 1e9}}}) {
    Sample sample;
    sample.data.files.value = paths;
    CHECK(read(fields_to_json(fields_of(sample))).data.files.value == paths);
  }
}

TEST_CASE("wrong files are refused with line and field") {
  const auto refused = [](const std::string& value, std::initializer_list<const char*> parts) {
    const std::string error = error_of([&] { files(value); });
    CAPTURE(value, error);
    for (const char* const part : parts) CHECK(contains(error, part));
    CHECK(error.find('\n') == std::string::npos);
  };
  refused("[]", {"[HPARAM-03]", "data.files", "an empty array", "run.json:1"});
  refused("[\n\"a\",\n7]", {"[HPARAM-02]", "data.files[1]", "not 7", "run.json:3"});
  refused(R"([["a"]])", {"[HPARAM-02]", "data.files[0]", "an array"});
  refused(R"([null])", {"[HPARAM-02]", "data.files[0]", "null"});
  refused(R"([{}])", {"[HPARAM-02]", "data.files[0] must have a \"path\""});
  refused(R"(["a", {"weight": 2}])", {"[HPARAM-02]", "data.files[1] must have a \"path\""});
  refused(R"([{"path": "a", "wieght": 2}])", {"[HPARAM-01]", "wieght", "data.files[0]", "\"weight\""});
  refused(R"([{"path": "a", "path": "b"}])", {"[HPARAM-04]", "data.files[0].path"});
  refused(R"([{"path": 1}])", {"[HPARAM-02]", "data.files[0].path", "not 1"});
  refused(R"([{"path": {"path": "a"}}])", {"[HPARAM-02]", "data.files[0].path", "an object"});
  refused(R"([{"path": ["a"]}])", {"[HPARAM-02]", "data.files[0].path", "an array"});
  for (const char* const weight : {"0", "-1", "1e-10", "1e10", "0.0"})
    refused(R"([{"path": "a", "weight": )" + std::string(weight) + "}]",
            {"[HPARAM-03]", "data.files[0].weight", "from 0.000000001 to 1,000,000,000"});
  refused(R"([{"path": "a", "weight": "2"}])", {"[HPARAM-02]", "data.files[0].weight"});
  refused(R"([{"path": "a", "weight": NaN}])", {"[HPARAM-05]"});
  refused(R"([{"path": "a", "weight": 1e999}])", {"[HPARAM-03]"});
  refused("{}", {"[HPARAM-02]", "data.files", "an object"});
  refused("3", {"[HPARAM-02]", "data.files", "not 3"});
  CHECK(contains(error_of([] { read(R"({"data": [1]})"); }), "[HPARAM-02]"));
  CHECK(contains(error_of([] { read(R"([1])"); }), "[HPARAM-05]"));
}

TEST_CASE("all mistakes of a list are told, and what follows it is read") {
  const auto lines = error_lines_of([] {
    read(R"({"data": {"files": [
7,
{"paht": "a"},
{"path": "b", "weight": 0, "weight": {"path": 1}},
["c"],
{"weight": 2},
"d"],
"shuffle": 1}})");
  });
  const std::vector<std::string> beginnings{"[HPARAM-02] data.files[0]",
                                            "[HPARAM-01] \"paht\" is no member of data.files[1]",
                                            "[HPARAM-03] data.files[2].weight",
                                            "[HPARAM-04] data.files[2].weight",
                                            "[HPARAM-02] data.files[3]",
                                            "[HPARAM-02] data.files[4] must have a \"path\"",
                                            "[HPARAM-02] data.shuffle"};
  const char* const places[] = {"run.json:2", "run.json:3", "run.json:4", "run.json:4",
                                "run.json:5", "run.json:6", "run.json:8"};
  REQUIRE(lines.size() == beginnings.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CAPTURE(lines[i]);
    CHECK(lines[i].starts_with(beginnings[i]));
    CHECK(contains(lines[i], places[i]));
  }
  CHECK(error_lines_of([] { set(R"(data.files=[1, {"path": 2}])"); }).size() == 2);
  std::string many = "[1";
  for (int i = 0; i < 100'000; ++i) many += ",\n1";
  CHECK(error_lines_of([&] { files(many + "]"); }).size() == 21);
}

TEST_CASE("the schema of files has both forms") {
  Sample sample;
  const auto schema = nlohmann::json::parse(fields_to_schema(fields_of(sample), "test"));
  const auto& forms = schema["properties"]["data"]["properties"]["files"]["anyOf"];
  CHECK(forms[0]["type"] == "string");
  CHECK(forms[1]["items"]["anyOf"][1]["required"] == std::vector<std::string>{"path"});
  CHECK(forms[1]["items"]["anyOf"][1]["properties"]["weight"]["maximum"] == 1e9);
}

}  // namespace hparams_paths_test
