#include "unit/data/set_test_support.hpp"

#include <monomorph/data/prepare/filter.hpp>

using namespace monomorph::data;

namespace {

const Documents documents{{1}, {2, 2}, {}, {3, 3, 3}, {4, 4}};
const std::string records = R"({"k": 1, "w": "a"}
{"k": 2, "w": "b"}
{"k": 3, "w": "c"}
{"k": 4, "w": "d"}
{"k": 5, "w": "e", "x": null})";

}  // namespace

TEST_CASE("Packed documents are kept by their number of tokens") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.pbin", packed_bytes(documents, 4));
  const auto kept = [&](const FilterSettings& settings) {
    const FilterSummary summary = filter(input, folder.file("b.pbin"), settings);
    CHECK(summary.read.n_documents == 5);
    const Documents found = documents_of(folder.file("b.pbin"));
    CHECK(summary.kept.n_documents == static_cast<std::int64_t>(found.size()));
    return found;
  };
  CHECK(kept({.min_tokens = 2}) == Documents{{2, 2}, {3, 3, 3}, {4, 4}});
  CHECK(kept({.max_tokens = 1}) == Documents{{1}, {}});
  CHECK(kept({.min_tokens = 2, .max_tokens = 2}) == Documents{{2, 2}, {4, 4}});
  CHECK(kept({.min_tokens = 0}) == documents);
}

TEST_CASE("Records are kept by a condition, packed documents by one on the record they were made from") {
  TemporaryFolder folder;
  const std::string lines = folder.write("a.jsonl", records);
  const std::string packed = folder.write("a.pbin", packed_bytes(documents, 2));
  const FilterSummary summary = filter(lines, folder.file("b.jsonl"), {.where = R"(/k > 3 || /w == "a")"});
  CHECK(summary.kept.n_documents == 3);
  CHECK(monomorph::read_text_file(folder.file("b.jsonl")) ==
        "{\"k\": 1, \"w\": \"a\"}\n{\"k\": 4, \"w\": \"d\"}\n{\"k\": 5, \"w\": \"e\", \"x\": null}\n");
  filter(packed, folder.file("b.pbin"), {.where = R"(/k > 3 || /w == "a")", .records = lines});
  CHECK(documents_of(folder.file("b.pbin")) == Documents{{1}, {3, 3, 3}, {4, 4}});
  filter(packed, folder.file("b.pbin"), {.max_tokens = 2, .where = "/k > 3", .records = lines});
  CHECK(documents_of(folder.file("b.pbin")) == Documents{{4, 4}});
}

TEST_CASE("A filter that keeps nothing, or asks for what no record has, is an error and leaves nothing") {
  TemporaryFolder folder;
  const std::string lines = folder.write("a.jsonl", records);
  const std::string packed = folder.write("a.pbin", packed_bytes(documents, 2));
  const std::string short_lines = folder.write("short.jsonl", "{\"k\": 1}\n{\"k\": 2}\n");
  const std::string long_lines = folder.write("long.jsonl", records + "\n{\"k\": 6}\n");
  const std::string broken = folder.write("broken.jsonl", "{\"k\": 1}\n{\"k\": }\n");
  const auto error = [&](const std::string& input, const FilterSettings& settings) {
    const std::string message = error_of([&] { filter(input, folder.file("out"), settings); });
    CHECK(folder.n_entries() == 5);
    return message;
  };
  CHECK(contains(error(lines, {.where = "/k > 5"}), "[DATA-45]"));
  CHECK(contains(error(packed, {.min_tokens = 4}), "[DATA-45]"));
  CHECK(contains(error(lines, {.where = "/k > 3 || /kk == 1"}), "[DATA-44]"));
  CHECK(contains(error(lines, {.where = "/k > "}), "[DATA-43]"));
  CHECK(contains(error(lines, {.min_tokens = 1}), "[DATA-10]"));
  CHECK(contains(error(lines, {}), "[DATA-10]"));
  CHECK(contains(error(packed, {.where = "/k > 1"}), "[DATA-10]"));
  CHECK(contains(error(packed, {.min_tokens = 1, .records = lines}), "[DATA-10]"));
  CHECK(contains(error(packed, {.min_tokens = 3, .max_tokens = 2}), "[DATA-10]"));
  CHECK(contains(error(packed, {.where = "/k > 1", .records = short_lines}), "[DATA-46]"));
  CHECK(contains(error(packed, {.where = "/k > 1", .records = long_lines}), "[DATA-46]"));
  const std::string message = error(broken, {.where = "/k > 0"});
  CHECK(contains(message, "[DATA-02]"));
  CHECK(contains(message, "line 2 (byte 9)"));
}

TEST_CASE("A set that was packed with lines skipped is filtered by the records of the others") {
  TemporaryFolder folder;
  const std::string lines = folder.write("a.jsonl", "{\"k\": 1}\n\n{\"k\": 2}\n{\"k\": 3\n{\"k\": 4}\n{}\n");
  const std::string packed = folder.write("a.pbin", packed_bytes(Documents{{1}, {2}, {4}}, 2));
  const std::string report = folder.write("r", "{\"line\": 2}\n{\"line\": 4}\n{\"line\": 6}\n");
  const FilterSettings settings{.where = "/k >= 2", .records = lines, .skipped = report};
  filter(packed, folder.file("b.pbin"), settings);
  CHECK(documents_of(folder.file("b.pbin")) == Documents{{2}, {4}});
  const auto error = [&](const std::string& skipped) {
    FilterSettings other = settings;
    other.skipped = skipped.empty() ? skipped : folder.write("s", skipped);
    return error_of([&] { filter(packed, folder.file("c.pbin"), other); });
  };
  CHECK(contains(error("{\"line\": 2}\n{\"line\": 4}\n"), "[DATA-46]"));
  CHECK(contains(error("{\"line\": 2}\n{\"line\": 4}\n{\"line\": 6}\n{\"line\": 7}\n"), "[DATA-46]"));
  CHECK(contains(error("{\"line\": 2}\n{\"line\": 2}\n"), "[DATA-53]"));
  CHECK(contains(error("{\"line\": \"2\"}\n"), "[DATA-53]"));
  CHECK(contains(error("nothing\n"), "[DATA-53] line 1"));
  CHECK(contains(error(std::string("{\"line\": 2}\0 x\n", 15)), "[DATA-53] line 1"));
  CHECK(contains(error(""), "[DATA-02]"));
  CHECK(contains(error_of([&] { filter(packed, folder.file("c.pbin"), {.min_tokens = 1, .skipped = report}); }),
                 "[DATA-10]"));
  const std::string no_json = folder.write("n.jsonl", "{\"k\": 1}\n{}\n{\"k\": 2}\n{\"k\": 4}\n");
  const std::string more =
      error_of([&] { filter(packed, folder.file("c.pbin"), {.where = "/k >= 1", .records = no_json}); });
  CHECK(contains(more, "[DATA-46]"));
  CHECK(contains(more, "--skipped"));
}

TEST_CASE("A line that packing skipped may be longer than any that is held") {
  TemporaryFolder folder;
  const std::string too_long(std::size_t{65} << 20, 'x');
  const std::string lines = folder.write("a.jsonl", "{\"k\": 1}\n" + too_long + "\n{\"k\": 2}\n");
  const std::string packed = folder.write("a.pbin", packed_bytes(Documents{{1}, {2}}, 2));
  const std::string report = folder.write("r", "{\"line\": 2}\n");
  filter(packed, folder.file("b.pbin"), {.where = "/k >= 2", .records = lines, .skipped = report});
  CHECK(documents_of(folder.file("b.pbin")) == Documents{{2}});
  const auto error = [&](const std::string& records) {
    return error_of([&] { filter(packed, folder.file("c.pbin"), {.where = "/k >= 2", .records = records}); });
  };
  const std::string judged = error(lines);
  CHECK(contains(judged, "[DATA-20]"));
  CHECK(contains(judged, "line 2 (byte 9): the line is 68157440 bytes long"));
  const std::string behind = error(folder.write("b.jsonl", "{\"k\": 1}\n{\"k\": 2}\n" + too_long));
  CHECK(contains(behind, "[DATA-46]"));
  CHECK(contains(behind, "--skipped"));
}
