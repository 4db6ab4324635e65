#include "data/records/csv_records.hpp"
#include "support/process.hpp"
#include "unit/data/data_test_support.hpp"

using namespace monomorph::data;
using monomorph::testing::contains;
using monomorph::testing::ProcessResult;
using monomorph::testing::read_bytes;
using monomorph::testing::run_process;
using monomorph::testing::write_bytes;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_in(const std::string& path) {
  Rows rows;
  CsvRecords records(path);
  while (auto record = records.next()) rows.push_back(std::move(record->fields));
  return rows;
}

Rows rows_of(const std::string& text) {
  const TemporaryFolder folder;
  write_bytes(folder / "rows.csv", text);
  return rows_in(folder / "rows.csv");
}

void refused(const std::string& text, const std::vector<std::string>& parts) {
  const std::string message = error_of([&] { rows_of(text); });
  CAPTURE(text, message);
  for (const std::string& part : parts) CHECK(contains(message, part));
  CHECK(message.find('\n') == std::string::npos);
}

/// Rows of every kind of character, in three dialects of Python's module, and what its reader makes of each file.
constexpr const char* write_rows = R"(
import csv, json, random, sys
random.seed(7)
characters = ['"', ',', '\n', '\r\n', ' ', 'a', 'b', 'é', '\t', "'", ';', '\\']
for number, dialect in enumerate(({}, {'lineterminator': '\n'}, {'quoting': csv.QUOTE_ALL})):
    rows = [[''.join(random.choices(characters, k=random.randrange(6))) for _ in range(random.randrange(2, 7))]
            for _ in range(400)]
    path = f'{sys.argv[1]}/{number}.csv'
    with open(path, 'w', newline='', encoding='utf-8') as file:
        csv.writer(file, **dialect).writerows(rows)
    with open(path, newline='', encoding='utf-8') as file:
        assert list(csv.reader(file, strict=True)) == rows
    with open(f'{sys.argv[1]}/{number}.json', 'w', encoding='utf-8') as file:
        json.dump(rows, file)
)";

}  // namespace

TEST_CASE("comma-separated values are the rows that Python's module has written and reads") {
  const TemporaryFolder folder;
  const ProcessResult result = run_process({"python3", "-c", write_rows, folder.path()});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  for (const std::string number : {"0", "1", "2"}) {
    CAPTURE(number);
    const Rows expected = nlohmann::json::parse(read_bytes(folder / (number + ".json"))).get<Rows>();
    CHECK(expected.size() == 400);
    CHECK(rows_in(folder / (number + ".csv")) == expected);
  }
}

TEST_CASE("comma-separated values without an end of the last line, with empty lines and a byte order mark") {
  CHECK(rows_of("").empty());
  CHECK(rows_of("\r\n\n").empty());
  CHECK(rows_of("\xEF\xBB\xBF\"a\",b\r\n\r\n\nc,") == Rows{{"a", "b"}, {"c", ""}});
  CHECK(rows_of("a\"b,\"\"") == Rows{{"a\"b", ""}});
  CHECK(rows_of("\"\n\n\",\"\r\n\"\n") == Rows{{"\n\n", "\r\n"}});

  const TemporaryFolder folder;
  write_bytes(folder / "rows.csv", "a\n\"b\n\n\"\nc\n");
  CsvRecords records(folder / "rows.csv");
  for (const std::int64_t line : {1, 2, 5}) CHECK(records.next().value().line == line);
  CHECK_FALSE(records.next().has_value());
}

TEST_CASE("a record of comma-separated values has 64 MiB at most, with the empty lines in it") {
  const auto refusal_with = [](std::size_t n_empty_lines, const std::string& end = "") {
    const std::string most(std::size_t{62} << 20, 'a'), newlines(n_empty_lines, '\n');
    return error_of([&] { rows_of("\"" + most + newlines + end); });
  };
  CHECK(contains(refusal_with(std::size_t{1} << 20), "ends within quotation marks"));
  CHECK(refusal_with(std::size_t{1} << 20, "\"\n").empty());
  for (const std::string end : {"", "\"\n"})
    CHECK(contains(refusal_with(std::size_t{3} << 20, end), "goes on within quotation marks for 64 MiB"));
}

TEST_CASE("a record of comma-separated values has 1,024 fields at most, on however many lines") {
  const std::string most(1023, ',');
  CHECK(rows_of(most + "\n" + most).back() == std::vector<std::string>(1024));
  const std::vector<std::string> refusal{"[DATA-80]", "the record at line 2 of", "rows.csv",
                                         "has more than 1,024 fields; give a file whose records have fewer"};
  refused("a,b\n" + most + ",\n", refusal);
  refused("a,b\n\"\n\"" + most + "\"\n\",", refusal);
}

TEST_CASE("comma-separated values that are cut short or malformed are refused with the line of their record") {
  refused("a,b\n\"c\n\nd", {"[DATA-80]", "the record at line 2 of", "rows.csv", "ends within quotation marks"});
  refused("\"", {"[DATA-80]", "line 1", "ends within quotation marks"});
  refused("\"a\" ,b\n", {"[DATA-80]", "line 1", "behind a closing quotation mark"});
  refused("\"a\"\r\r\n", {"[DATA-80]", "behind a closing quotation mark"});
  CHECK(is_csv_name("a.csv"));
  CHECK(is_csv_name("a.csv.gz"));
  CHECK_FALSE(is_csv_name("a.csv.jsonl"));
}
