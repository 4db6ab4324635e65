#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>
#include <regex>
#include <set>

using namespace monomorph::testing;

namespace {

void add_ids(const std::string& text, const std::string& pattern, std::set<std::string>& ids) {
  const std::regex expression(pattern);
  for (std::sregex_iterator found(text.begin(), text.end(), expression), end; found != end; ++found)
    ids.insert((*found)[1]);
}

}  // namespace

TEST_CASE("every message of a run has its line in the reference, and only those have one") {
  const std::string root = MONOMORPH_SOURCE_DIR;
  std::set<std::string> in_code, in_docs;
  for (const std::string folder : {"/src/train", "/cmake"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root + folder))
      if (entry.is_regular_file()) add_ids(read_bytes(entry.path().string()), R"("\[(RUN-\d\d)\])", in_code);
  add_ids(read_bytes(root + "/docs/reference/run.md"), R"(\| (RUN-\d\d) \|)", in_docs);
  CHECK(in_code == in_docs);
  CHECK(in_code.size() > 10);
}
