#include "unit/data/data_test_support.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/data/formats/span_index.hpp>
#include <monomorph/data/prepare/index_json_lines.hpp>

#include <nlohmann/json.hpp>

#include <sstream>

using namespace monomorph::data;

namespace {

std::vector<DocumentSpan> spans_at(const std::string& path) {
  const std::string bytes = bytes_at(path);
  return read_span_index(bytes_of(bytes), path);
}

const std::string good = "{\"text\": \"x\"}";  // 13 bytes

}  // namespace

TEST_CASE("Offsets and lengths are those of the lines, whatever ends them") {
  TemporaryFolder folder;
  const auto check = [&](const std::string& text, const std::vector<DocumentSpan>& expected) {
    CAPTURE(text);
    index_json_lines(folder.write("a.jsonl", text), folder.file("a.idx"));
    CHECK(spans_at(folder.file("a.idx")) == expected);
  };
  check("1", {{0, 1}});
  check("1\n", {{0, 1}});
  check("1\r\n22\r\n", {{0, 2}, {3, 3}});  // as Modalities counts: the carriage return belongs to the line
  check("\xef\xbb\xbf{}\n{}", {{0, 5}, {6, 2}});
  check("  1 \n\t[]", {{0, 4}, {5, 3}});
}

TEST_CASE("The index does not depend on the number of threads") {
  TemporaryFolder folder;
  std::string text;
  for (std::int64_t i = 0; i < 100'000; ++i) text += "{\"n\": " + std::to_string(i * i) + "}\n";
  const std::string input = folder.write("a.jsonl", text);
  index_json_lines(input, folder.file("1"));
  for (const int n_threads : {2, 5}) {
    const IndexSummary summary = index_json_lines(input, folder.file("n"), {.n_threads = n_threads});
    CHECK(summary.n_documents == 100'000);
    CHECK(summary.input_bytes == text.size());
    CHECK(bytes_at(folder.file("n")) == bytes_at(folder.file("1")));
  }
}

TEST_CASE("A line that is no JSON is an error that names line and byte, and nothing is left") {
  TemporaryFolder folder;
  std::string many;
  for (int i = 0; i < 60'000; ++i) many += good + "\n";
  for (const int n_threads : {1, 3}) {
    const auto check = [&](const std::string& text, std::initializer_list<const char*> parts) {
      const std::string input = folder.write("a.jsonl", text);
      const std::string error =
          error_of([&] { index_json_lines(input, folder.file("a.idx"), {.n_threads = n_threads}); });
      INFO(error);
      for (const char* part : parts) CHECK(contains(error, part));
      CHECK(folder.n_entries() == 1);
    };
    check(good + "\n\n" + good, {"[DATA-02]", "line 2", "byte 14", "blank"});
    check(good + "\n{\"text\"", {"[DATA-02]", "line 2", "byte 14"});
    check(good + "\n{\"text\": \"x\"\n}\n", {"[DATA-02]", "line 2"});  // a value over two lines
    check(good + good + "\n", {"[DATA-02]", "line 1", "byte 0", "not one JSON value"});
    check(many + "{\n" + many + "x\n", {"[DATA-02]", "line 60001", "byte 840000"});
    check("", {"[DATA-04]"});
  }
}

TEST_CASE("A line that is too long is named, not read") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.jsonl", "1\n\"" + std::string(20 << 20, 'x') + "\"\n2\n");
  const std::string error = error_of([&] { index_json_lines(input, folder.file("a.idx")); });
  CHECK(contains(error, "[DATA-20]"));
  CHECK(contains(error, "line 2"));
  const IndexSummary summary = index_json_lines(input, folder.file("a.idx"), {.on_error = OnError::skip});
  CHECK(summary.n_documents == 2);
  CHECK(summary.n_skipped == 1);
  CHECK(spans_at(folder.file("a.idx")) == std::vector<DocumentSpan>{{0, 1}, {(20u << 20) + 5u, 1}});
}

TEST_CASE("Broken lines can be skipped: they are counted and listed in a report") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.jsonl", good + "\n\n{\"text\": \"\xff\"}\n[1\n" + good);
  for (const int n_threads : {1, 4}) {
    const IndexSummary summary =
        index_json_lines(input, folder.file("a.idx"), {.on_error = OnError::skip, .n_threads = n_threads});
    CHECK(summary.n_documents == 2);
    CHECK(summary.n_skipped == 3);
    CHECK(spans_at(folder.file("a.idx")) == std::vector<DocumentSpan>{{0, 13}, {32, 13}});
    std::istringstream report(bytes_at(folder.file("a.idx.skipped.jsonl")));
    std::vector<nlohmann::json> lines;
    for (std::string line; std::getline(report, line);) lines.push_back(nlohmann::json::parse(line));
    REQUIRE(lines.size() == 3);
    CHECK(lines[0].at("line") == 2);
    CHECK(lines[0].at("offset") == 14);
    CHECK(lines[0].at("length") == 0);
    CHECK(lines[0].at("error") == "DATA-02");
    CHECK(lines[1].at("line") == 3);
    CHECK(contains(lines[1].at("reason").get<std::string>(), "UTF-8"));
    CHECK(lines[2].at("line") == 4);
    CHECK(lines[2].at("offset") == 29);
  }
  index_json_lines(input, folder.file("b.idx"), {.on_error = OnError::skip, .report = folder.file("other")});
  CHECK(bytes_at(folder.file("other")) == bytes_at(folder.file("a.idx.skipped.jsonl")));
}

TEST_CASE("When every line is skipped, the error says why the first was, and nothing is left") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.jsonl", "x\ny\n");
  const std::string error =
      error_of([&] { index_json_lines(input, folder.file("a.idx"), {.on_error = OnError::skip}); });
  CHECK(contains(error, "[DATA-21]"));
  CHECK(contains(error, "2 lines"));
  CHECK(contains(error, "of line 1: this is not one JSON value"));
  CHECK(folder.n_entries() == 1);
}
