#include "unit/data/set_test_support.hpp"

#include <monomorph/data/prepare/index_json_lines.hpp>
#include <monomorph/data/prepare/inspect.hpp>

#include <algorithm>

using namespace monomorph::data;

TEST_CASE("Lengths are counted: quantiles and bins are those of the sorted list") {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> lengths{0, 1, 65535, 65536, 1ull << 40};
  for (int i = 0; i < 2000; ++i) lengths.push_back(random() >> (random() % 20 + 40));
  LengthCounter counter;
  std::uint64_t sum = 0;
  for (const std::uint64_t length : lengths) {
    counter.add(length);
    sum += length;
  }
  std::sort(lengths.begin(), lengths.end());
  CHECK(counter.count() == static_cast<std::int64_t>(lengths.size()));
  CHECK(counter.sum() == sum);
  CHECK(counter.least() == 0);
  CHECK(counter.largest() == 1ull << 40);
  for (const double fraction : {0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0}) {
    INFO(fraction);
    const auto place = static_cast<std::size_t>(std::ceil(fraction * static_cast<double>(lengths.size()))) - 1;
    const std::uint64_t expected = lengths[place], found = counter.quantile(fraction);
    CHECK(found <= expected);
    CHECK(found >= expected - expected / 1000);
    if (expected < 65536) CHECK(found == expected);
  }
  std::int64_t n = 0;
  for (const auto& bin : counter.bins()) {
    const auto in_bin = [&](std::uint64_t length) { return length >= bin.begin && length < bin.end; };
    CHECK(bin.count == std::count_if(lengths.begin(), lengths.end(), in_bin));
    n += bin.count;
  }
  CHECK(n == counter.count());
  CHECK(LengthCounter().bins().empty());
  CHECK(LengthCounter().quantile(0.5) == 0);
}

TEST_CASE("What Modalities packed and indexed is described") {
  const SetStatistics packed = read_statistics(fixture("modalities/small.pbin"));
  CHECK(packed.bytes_per_token == 2);
  CHECK(packed.lengths.count() == 25);
  CHECK(packed.file_bytes == std::filesystem::file_size(fixture("modalities/small.pbin")));
  const SetStatistics index = read_statistics(fixture("modalities/small.idx"));
  const SetStatistics lines = read_statistics(fixture("modalities/small.jsonl"));
  CHECK(index.bytes_per_token == 0);
  CHECK(index.lengths.sum() == lines.lengths.sum());
  CHECK(index.lengths.count() == 25);
  CHECK(lines.lengths.sum() == lines.file_bytes - 25);
}

TEST_CASE("One document or record is shown") {
  TemporaryFolder folder;
  const std::string packed = folder.write("a.pbin", packed_bytes(Documents{{1, 2}, {}, {60000}}, 2));
  CHECK(read_document(packed, 0) == std::vector<std::int32_t>{1, 2});
  CHECK(read_document(packed, 1).empty());
  CHECK(read_document(packed, 2) == std::vector<std::int32_t>{60000});
  const std::string lines = folder.write("a.jsonl", "{\"a\": 1}\n{\"a\": 2}");
  CHECK(read_record(lines, 1) == "{\"a\": 2}");
  for (const std::int64_t number : {std::int64_t{-1}, std::int64_t{3}, std::int64_t{1} << 40}) {
    CHECK(contains(error_of([&] { read_document(packed, number); }), "[DATA-52]"));
    CHECK(contains(error_of([&] { read_record(lines, number); }), "[DATA-52]"));
  }
  CHECK(contains(error_of([&] { read_statistics(folder.write("a.txt", "x")); }), "[DATA-40]"));
  CHECK(contains(error_of([&] { read_statistics(folder.write("b.idx", "x")); }), "[DATA-05]"));
  CHECK(contains(error_of([&] { read_statistics(folder.write("b.pbin", "x")); }), "[DATA-06]"));
}

TEST_CASE("A record of an index is the line that its span names, whatever was skipped before") {
  TemporaryFolder folder;
  const std::string lines = folder.write("a.jsonl", "{\"a\": 1}\n\nbroken\n{\"a\": 22}\n{\"a\": 3}\n");
  const std::string index = folder.file("a.idx");
  index_json_lines(lines, index, {.on_error = OnError::skip});
  CHECK(read_indexed_record(index, lines, 0) == "{\"a\": 1}");
  CHECK(read_indexed_record(index, lines, 1) == "{\"a\": 22}");
  CHECK(read_indexed_record(index, lines, 2) == "{\"a\": 3}");
  CHECK(contains(error_of([&] { read_indexed_record(index, lines, 3); }), "[DATA-52]"));
  const std::string other = folder.write("b.jsonl", "{\"a\": 1}\n");
  CHECK(contains(error_of([&] { read_indexed_record(index, other, 1); }), "[DATA-05]"));
  CHECK(contains(error_of([&] { read_indexed_record(index, folder.file("none"), 1); }), "[FILE-01]"));
}

TEST_CASE("Progress is told wherever a set is looked at") {
  TemporaryFolder folder;
  const std::string packed = folder.write("a.pbin", packed_bytes(Documents(40000, Tokens{1, 2}), 2));
  std::string text;
  for (int i = 0; i < 40000; ++i) text += "{}\n";
  const std::string lines = folder.write("a.jsonl", text), index = folder.file("a.idx");
  index_json_lines(lines, index);
  const auto check = [](std::uint64_t expected_total, const auto& look) {
    std::vector<std::uint64_t> done;
    look([&](std::uint64_t now, std::uint64_t total) {
      done.push_back(now);
      CHECK(total == expected_total);
    });
    CHECK(done.size() >= 3);
    CHECK(std::is_sorted(done.begin(), done.end()));
    CHECK(done.back() > expected_total / 2);
  };
  const std::uint64_t index_bytes = std::filesystem::file_size(index);
  check(160000, [&](const ProgressCallback& progress) { read_statistics(packed, progress); });
  check(160000, [&](const ProgressCallback& progress) { read_document(packed, 0, progress); });
  check(index_bytes, [&](const ProgressCallback& progress) { read_statistics(index, progress); });
  check(index_bytes, [&](const ProgressCallback& progress) { read_indexed_record(index, lines, 0, progress); });
  check(text.size(), [&](const ProgressCallback& progress) { read_record(lines, 0, progress); });
}
