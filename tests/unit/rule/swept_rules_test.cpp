// Each rule of docs/rules.md is broken by some change of a sweep, or is in the list below, with the reason.
#include "broken_rules.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

namespace swept_rules {

using namespace monomorph::testing;
using std::string;
namespace fs = std::filesystem;

struct Exception {
  std::string_view id, why;
};
/// None of them is about what a recipe is, once it compiles.
constexpr Exception not_swept[] = {
    {"RECIPE-01", "names of members: the build asks the compiler for them (cmake/check_members.cmake)"},
    {"RECIPE-09", "the name of the recipe itself, which the build asks for"},
    {"RECIPE-13", "names of what policies may leave out, which the build asks the compiler for"},
    {"RECIPE-14", "hyperparameters are read below the gate, where they become fields of a file"},
    {"SPEC-03", "a misspelt designator does not compile: the build says so in our words"},
    {"SPEC-04", "designators out of their order do not compile: the build says so in our words"},
};

string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}
const fs::path root = MONOMORPH_SOURCE_DIR;

std::set<string> documented() {
  std::set<string> ids;
  std::istringstream lines(text_of(root / "docs/rules.md"));
  for (string line; std::getline(lines, line);)
    if (line.starts_with("### ")) ids.insert(line.substr(4));
  return ids;
}

/// The ids of the messages of each struct in the headers: those behind it, up to the next one.
std::map<string, std::set<string>> ids_of_structs() {
  static const std::regex head("^(?:template <.*> )?struct ([A-Za-z0-9_]+)"), message("\"\\[([A-Z]+-[0-9][0-9])\\] ");
  std::map<string, std::set<string>> ids;
  for (const auto& entry : fs::recursive_directory_iterator(root / "include/monomorph")) {
    if (entry.path().extension() != ".hpp") continue;
    std::istringstream lines(text_of(entry.path()));
    string last;
    std::smatch match;
    for (string line; std::getline(lines, line);) {
      if (std::regex_search(line, match, head)) last = match[1];
      if (std::regex_search(line, match, message)) ids[last].insert(match[1]);
    }
  }
  return ids;
}

/// Of "a::b::Name<c::d::Argument" the argument's name, and else that of the rule: who has the messages.
string owner_of(std::string_view name) { return string(name.substr(name.find_last_of(":<") + 1)); }

TEST_CASE("each rule is broken by a sweep, or it is said why none does") {
  const auto ids = ids_of_structs();
  std::set<string> swept;
  for (const auto& [name, id] : broken_rules()) {
    if (name.find("_sweep::") != std::string_view::npos || name.find("testing::") != std::string_view::npos) continue;
    INFO("rule " << name);
    if (!id.empty()) {
      swept.insert(string(id));
    } else {
      const auto found = ids.find(owner_of(name));
      REQUIRE(found != ids.end());
      CHECK(found->second.size() == 1);  // or id_of_rule must tell which of them
      swept.insert(*found->second.begin());
    }
  }
  for (const auto& [id, why] : not_swept) {
    INFO(id << ": " << why);
    CHECK_FALSE(swept.contains(string(id)));
    swept.insert(string(id));
  }
  string missing, unknown;
  const std::set<string> known = documented();
  for (const string& id : known)
    if (!swept.contains(id)) missing += ' ' + id;
  for (const string& id : swept)
    if (!known.contains(id)) unknown += ' ' + id;
  CHECK(missing == "");
  CHECK(unknown == "");
  CHECK(known.size() >= 190);
}

TEST_CASE("a rule that no sweep breaks has a negative test") {
  string tests = text_of(root / "cmake/run_members.cmake");
  for (const char* folder : {"tests/compile_fail", "tests/compile_fail/members"})
    for (const auto& entry : fs::directory_iterator(root / folder))
      if (entry.is_regular_file()) tests += text_of(entry.path());
  for (const auto& [id, why] : not_swept) {
    INFO(id << ": " << why);
    CHECK(std::regex_search(tests, std::regex("error: (\\\\\\[|\\.)" + string(id))));
  }
}

}  // namespace swept_rules
