#include "unit/data/data_test_support.hpp"

#include <monomorph/data/records/input_list.hpp>

using monomorph::data::expand_inputs;
using monomorph::data::name_of_inputs;

TEST_CASE("Patterns stand for their files in the order of bytes, and each file is read once") {
  const TemporaryFolder folder;
  for (const char* const name : {"b.jsonl", "a.jsonl", "B.jsonl", "a10.jsonl", "a2.jsonl", "other.txt", "odd[1].jsonl"})
    folder.write(name, "");
  std::filesystem::create_directory(folder.file("folder.jsonl"));
  const auto expanded = [&](std::vector<std::string> arguments) {
    for (std::string& argument : arguments) argument = folder.file(argument);
    std::vector<std::string> names = expand_inputs(arguments);
    for (std::string& name : names) name = name.substr(folder.path().size() + 1);
    return names;
  };
  using Names = std::vector<std::string>;
  CHECK(expanded({"[a-b]*.jsonl"}) == Names{"a.jsonl", "a10.jsonl", "a2.jsonl", "b.jsonl"});
  CHECK(expanded({"*.jsonl"}) == Names{"B.jsonl", "a.jsonl", "a10.jsonl", "a2.jsonl", "b.jsonl", "odd[1].jsonl"});
  CHECK(expanded({"other.txt", "b.jsonl", "?.jsonl"}) == Names{"other.txt", "b.jsonl", "B.jsonl", "a.jsonl"});
  CHECK(expanded({"a.jsonl", "./a.jsonl", "folder.jsonl/../a.jsonl"}) == Names{"a.jsonl"});
  CHECK(expanded({"odd[1].jsonl"}) == Names{"odd[1].jsonl"});    // what exists is no pattern
  CHECK(expanded({"nowhere.jsonl"}) == Names{"nowhere.jsonl"});  // opening it says so
  CHECK(contains(error_of([&] { expanded({"*.none"}); }), "[DATA-74]"));
  CHECK(name_of_inputs({"a"}) == "a");
  CHECK(name_of_inputs({"a", "b", "c"}) == "a and 2 more");
}
