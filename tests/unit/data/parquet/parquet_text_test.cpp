// Parquet files that pyarrow has written (tests/fixtures/parquet), as lines of JSON.
#include "support/catch.hpp"

#ifdef MONOMORPH_HAS_PARQUET
#include "data/parquet/parquet_text.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/core/error.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <vector>

using namespace monomorph::data;
using monomorph::Error;
using monomorph::UsageError;
using monomorph::testing::read_bytes;
using monomorph::testing::write_bytes;

namespace {

std::string parquet_fixture(const std::string& name) { return MONOMORPH_SOURCE_DIR "/tests/fixtures/parquet/" + name; }

constexpr std::size_t any_length = std::size_t{1} << 40;

std::string text_of(const std::string& path, const Columns& columns = {}, std::size_t most = any_length,
                    std::size_t piece_bytes = 70'000) {
  const auto source = open_parquet_text(path, columns);
  std::vector<char> piece(piece_bytes);
  std::string text;
  while (text.size() < most) {
    const std::size_t n = source->read_some(piece.data(), piece.size());
    if (n == 0) break;
    text.append(piece.data(), n);
  }
  return text;
}

std::string refusal_of(const std::string& name, const Columns& columns = {}) {
  return error_of([&] { text_of(parquet_fixture(name), columns); });
}

}  // namespace

TEST_CASE("Parquet of every codec and encoding reads as the records that it was made of") {
  const std::string whole = text_of(parquet_fixture("none.parquet"));
  for (const char* name : {"snappy", "gzip", "zstd", "brotli", "lz4", "plain", "delta", "checksums", "large_string",
                           "dictionary", "binary"}) {
    CAPTURE(name);
    CHECK(text_of(parquet_fixture(name) + ".parquet") == whole);
  }
  CHECK(text_of(parquet_fixture("snappy.parquet"), {}, any_length, 7) == whole);
  CHECK(std::count(whole.begin(), whole.end(), '\n') == 40);
  for (const std::string name : {"chats", "preferences", "chat_preferences"}) {
    CAPTURE(name);
    CHECK(text_of(parquet_fixture(name + ".parquet")) == read_bytes(parquet_fixture(name + ".jsonl")));
  }
}

TEST_CASE("What a column of Parquet holds is written as JSON has it") {
  CHECK(text_of(parquet_fixture("values.parquet")) ==
        R"({"whole":1,"large":18446744073709551615,"real":0.1,"single":0.1,"yes":true,"list":[1,null,3],)"
        R"("pair":["a","b"],"nested":[{"a":{"b":"x"}},{}]})"
        "\n"
        R"({"whole":-2,"large":0,"real":null,"single":null,"yes":false,"list":[],"pair":["c","d"],"nested":[null]})"
        "\n"
        R"({"real":1e+300,"single":-2.0,"nested":[]})"
        "\n");
  CHECK(text_of(parquet_fixture("nulls.parquet")) == "{\"text\":\"a\"}\n{}\n{\"text\":\"b\"}\n");
  CHECK(text_of(parquet_fixture("no_rows.parquet")).empty());
  CHECK(text_of(parquet_fixture("not_utf8.parquet")) ==
        "{\"text\":\"good\"}\n{\"text\":\"\xff\xfe\"}\n{\"text\":\"good again\"}\n");
}

TEST_CASE("A floating-point number of Parquet stays one, whole or large as it may be") {
  const auto told = [](const std::string& line) { return nlohmann::json::parse(line).dump(); };  // 20.0 is not 20
  const std::string text = text_of(parquet_fixture("tools.parquet"));
  CHECK(told(text) == told(read_bytes(parquet_fixture("tools.jsonl"))));
  CHECK(contains(text, R"("limits":[20.0,-0.0,0.1,1e+05,1e+16,123456789012345683968.0,1e+22,1e-07],"step":1})"));
}

TEST_CASE("Of a Parquet file only the columns are read that are asked for") {
  CHECK(text_of(parquet_fixture("dates.parquet"), {"content", "no such"}) ==
        "{\"content\":\"a\"}\n{\"content\":\"b\"}\n");
  CHECK(refusal_of("dates.parquet", {"no such"}) == "[DATA-77] \"" + parquet_fixture("dates.parquet") +
                                                        "\" has no column \"no such\"; name one of \"text\", "
                                                        "\"content\" with --field");
  CHECK(contains(refusal_of("dates.parquet", {"text"}), "has the type date32[day], for which JSON has no values"));
  CHECK(contains(refusal_of("no_columns.parquet", {"text"}), "[DATA-77]"));
  CHECK_THROWS_AS(text_of(parquet_fixture("no_columns.parquet")), UsageError);
}

TEST_CASE("A Parquet file that says what is not so, is encrypted or would take all memory is refused with a line") {
  for (const char* name : {"more_rows", "countless_rows", "fewer_rows_than_none"})
    CHECK(contains(refusal_of(std::string(name) + ".parquet"), "[DATA-70]"));
  CHECK(contains(refusal_of("encrypted.parquet"), "[DATA-79]"));
  CHECK(contains(refusal_of("encrypted_column.parquet"), "[DATA-79]"));
  CHECK(contains(refusal_of("large_page.parquet"), "[DATA-78]"));
  CHECK(contains(error_of([&] {
                   const auto source = open_parquet_text(parquet_fixture("bomb.parquet"), {});
                   std::vector<char> piece(1 << 20);
                   while (source->read_some(piece.data(), piece.size()) > 0) {
                   }
                 }),
                 "[DATA-72]"));
  for (const char* name : {"documents.jsonl", "README.md"}) CHECK(contains(refusal_of(name), "[DATA-70]"));
}

TEST_CASE("A Parquet file that is cut short anywhere is refused") {
  const TemporaryFolder folder;
  const std::string whole = read_bytes(parquet_fixture("chats.parquet"));
  for (std::size_t n = 0; n < whole.size(); n += 5) {
    write_bytes(folder / "cut.parquet", whole.substr(0, n));
    CHECK(contains(error_of([&] { text_of(folder / "cut.parquet"); }), "[DATA-70]"));
  }
}

TEST_CASE("A Parquet file with a value that is not in its dictionary is refused before anybody goes where it points") {
  const TemporaryFolder folder;
  std::string changed = read_bytes(parquet_fixture("dictionary.parquet"));
  changed.replace(358, 8, "\xff\xff~\xff\x1dj\t\x14");  // of its indices, as libFuzzer changed them
  write_bytes(folder / "changed.parquet", changed);
  const std::string refused = error_of([&] { text_of(folder / "changed.parquet"); });
  CHECK(contains(refused, "[DATA-70]"));
  CHECK(contains(refused, "a value is not in its dictionary"));
}

TEST_CASE("A Parquet file of which a byte is changed is read, or refused with a line") {
  const TemporaryFolder folder;
  for (const char* name : {"values.parquet", "plain.parquet"}) {
    const std::string whole = read_bytes(parquet_fixture(name));
    for (std::size_t i = 0; i < whole.size(); i += 5) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ (i % 2 == 0 ? 0x01 : 0xff));
      write_bytes(folder / "changed.parquet", changed);
      CAPTURE(name, i);
      try {
        text_of(folder / "changed.parquet", {}, 1 << 20);
      } catch (const Error& error) {
        CHECK(!contains(error.what(), "\n"));
      }
    }
  }
}
#else
TEST_CASE("Parquet of every codec and encoding reads as the records that it was made of") {
  MONOMORPH_SKIP("no Arrow: tools/setup/install --parquet, and configure again");
}
#endif
