#include "unit/data/set_test_support.hpp"

#include <monomorph/data/formats/document_source.hpp>

using namespace monomorph::data;

namespace {

std::vector<std::unique_ptr<DocumentSink>> two_sinks(const TemporaryFolder& folder, const std::string& like) {
  std::vector<std::unique_ptr<DocumentSink>> sinks;
  for (const char* name : {"one", "two"}) {
    sinks.push_back(create_set_like(like, folder.file(name)));
    sinks.back()->write(bytes_of("xy"));
    sinks.back()->end_document();
  }
  return sinks;
}

}  // namespace

TEST_CASE("Several outputs appear together, or none if the last cannot") {
  TemporaryFolder folder;
  const std::string packed = folder.write("a.pbin", packed_bytes(Documents{{1}}, 2));
  const std::string lines = folder.write("a.jsonl", "{}\n");
  for (const std::string& like : {packed, lines}) {
    {
      const auto sinks = two_sinks(folder, like);
      for (const auto& sink : sinks) sink->finish();
      CHECK(!std::filesystem::exists(folder.file("one")));
      commit_together(sinks);
    }
    CHECK(std::filesystem::exists(folder.file("one")));
    CHECK(std::filesystem::remove(folder.file("one")));
    CHECK(std::filesystem::remove(folder.file("two")));
    {
      const auto sinks = two_sinks(folder, like);
      std::filesystem::create_directory(folder.file("two"));  // a file cannot take the place of a folder
      CHECK(contains(error_of([&] { commit_together(sinks); }), "[FILE-03]"));
    }
    CHECK(std::filesystem::remove(folder.file("two")));
    CHECK(folder.n_entries() == 2);
  }
}

TEST_CASE("Outputs that are finished but not put in their places leave nothing") {
  TemporaryFolder folder;
  const std::string packed = folder.write("a.pbin", packed_bytes(Documents{{1}}, 2));
  {
    const auto sinks = two_sinks(folder, packed);
    for (const auto& sink : sinks) sink->finish();
  }
  CHECK(folder.n_entries() == 1);
}
