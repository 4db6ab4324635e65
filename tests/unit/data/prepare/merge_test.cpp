#include "unit/data/set_test_support.hpp"

#include <monomorph/data/prepare/merge.hpp>

using namespace monomorph::data;

namespace {

const Documents first{{1, 2, 3}, {}, {4}}, second{{5, 60000}}, third{};

}  // namespace

TEST_CASE("Merged files have all documents, at offsets where their tokens are") {
  TemporaryFolder folder;
  const std::vector<std::string> inputs{folder.write("a.pbin", packed_bytes(first, 2)),
                                        folder.write("b.pbin", packed_bytes(second, 2)),
                                        folder.write("none.pbin", packed_bytes(third, 2)),
                                        folder.write("c.pbin", packed_bytes(first, 2))};
  const SetSize size = merge(inputs, folder.file("out.pbin"));
  const Documents all{{1, 2, 3}, {}, {4}, {5, 60000}, {1, 2, 3}, {}, {4}};
  CHECK(documents_of(folder.file("out.pbin")) == all);
  CHECK(size.n_documents == 7);
  CHECK(size.n_bytes == 20);
  // To the byte, what packing all of it at once gives.
  CHECK(monomorph::read_text_file(folder.file("out.pbin")) == packed_bytes(all, 2));
}

TEST_CASE("A file made by Modalities merges with itself") {
  TemporaryFolder folder;
  const std::string input = fixture("modalities/small.pbin");
  merge({input, input}, folder.file("out.pbin"));
  Documents twice = documents_of(input);
  const Documents once = twice;
  twice.insert(twice.end(), once.begin(), once.end());
  CHECK(documents_of(folder.file("out.pbin")) == twice);
}

TEST_CASE("A merged file may take the place of one of its parts") {
  TemporaryFolder folder;
  const std::string path = folder.write("a.pbin", packed_bytes(second, 2));
  merge({path, path}, path);
  CHECK(documents_of(path) == Documents{{5, 60000}, {5, 60000}});
}

TEST_CASE("Files of other widths and damaged ones are not merged, and leave nothing") {
  TemporaryFolder folder;
  const std::string good = folder.write("good.pbin", packed_bytes(first, 2));
  const std::string output = folder.file("out.pbin");
  const auto error = [&](const std::string& bytes) {
    const std::string other = folder.write("other.pbin", bytes);
    const std::string message = error_of([&] { merge({good, other}, output); });
    CHECK(folder.n_entries() == 2);
    return message;
  };
  CHECK(contains(error(packed_bytes(first, 4)), "[DATA-41]"));
  const std::string bytes = packed_bytes(first, 2);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const std::string message = error(bytes.substr(0, size));
    if (!contains(message, "[DATA-06]") && !contains(message, "[DATA-05]")) FAIL(size << ": " << message);
  }
  const std::string data = token_bytes({1, 2, 3}, 2);
  CHECK(contains(error(packed_bytes(data, 2, {{0, 4}, {2, 4}})), "[DATA-06]"));           // overlap
  CHECK(contains(error(packed_bytes(data, 2, {{0, 2}, {4, 2}})), "[DATA-06]"));           // a gap
  CHECK(contains(error(packed_bytes(data, 2, {{0, 4}})), "[DATA-06]"));                   // a token left over
  CHECK(contains(error(packed_bytes(data, 2, {{4, 2}, {0, 4}})), "[DATA-06]"));           // another order
  CHECK(contains(error(packed_bytes(data, 2, {{0, 3}, {3, 3}})), "[DATA-06]"));           // half a token
  CHECK(contains(error(packed_bytes(data, 2, {{0, 6}, {6, 1ull << 62}})), "[DATA-06]"));  // far beyond the end
  CHECK(contains(error(packed_bytes(data, 2, {{0, 6}, {1ull << 62, 1ull << 62}})), "[DATA-06]"));
  CHECK(contains(error_of([&] { merge({good, folder.file("no.pbin")}, output); }), "[FILE-01]"));
}
