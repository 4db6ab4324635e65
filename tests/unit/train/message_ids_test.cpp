#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <vector>

using namespace monomorph::testing;

namespace {

using Ids = std::multiset<std::string>;

void add_ids(const std::string& text, const std::string& pattern, Ids& ids) {
  const std::regex expression(pattern);
  for (std::sregex_iterator found(text.begin(), text.end(), expression), end; found != end; ++found)
    ids.insert((*found)[1]);
}

Ids ids_below(const std::string& folder, const std::string& pattern) {
  Ids ids;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(MONOMORPH_SOURCE_DIR + folder))
    if (entry.is_regular_file()) add_ids(read_bytes(entry.path().string()), pattern, ids);
  return ids;
}

/// Those of `ids` that `others` lacks.
std::vector<std::string> missing(const Ids& ids, const Ids& others) {
  std::vector<std::string> lacking;
  std::ranges::copy_if(ids, std::back_inserter(lacking), [&](const std::string& id) { return !others.contains(id); });
  return lacking;
}

}  // namespace

TEST_CASE("every message has its line in the reference, once, and only messages have one") {
  Ids in_code;  // an ErrorId is made of a literal of its own; other messages, and comments, have theirs in brackets
  for (const std::string folder : {"/include", "/src", "/cmake", "/tools"})
    in_code.merge(ids_below(folder, R"re([\["]([A-Z]+-\d\d)[\]"])re"));
  for (const std::string file : {"/CMakeLists.txt", "/quickstart"})
    add_ids(read_bytes(MONOMORPH_SOURCE_DIR + file), R"(\[([A-Z]+-\d\d)\])", in_code);
  Ids in_docs = ids_below("/docs/reference", R"(\| ([A-Z]+-\d\d) \|)");
  add_ids(read_bytes(std::string(MONOMORPH_SOURCE_DIR) + "/docs/rules.md"), R"(### ([A-Z]+-\d\d)\n)", in_docs);
  CHECK(missing(in_code, in_docs).empty());
  CHECK(missing(in_docs, in_code).empty());
  for (const std::string& id : in_docs) {
    CAPTURE(id);
    CHECK(in_docs.count(id) == 1);
  }
  CHECK(in_docs.size() > 150);
}

TEST_CASE("no two messages of the runtime have one id") {
  const Ids ids = ids_below("/src/runtime", R"re("((?:KERNEL|ARENA|BLOCK|RANK)-\d\d)")re");
  CHECK(ids.size() > 20);
  for (const std::string& id : ids) {
    CAPTURE(id);
    CHECK(ids.count(id) == 1);
  }
}
