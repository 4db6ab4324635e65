#include "unit/data/set_test_support.hpp"

#include <monomorph/data/prepare/index_json_lines.hpp>
#include <monomorph/data/prepare/pack.hpp>
#include <monomorph/data/prepare/verify.hpp>

using namespace monomorph::data;

namespace {

struct Verified {
  std::vector<std::string> findings;
  VerifySummary summary;
};

Verified verified(const std::string& path, const VerifySettings& settings = {}) {
  Verified result;
  result.summary =
      verify_packed(path, settings, [&](std::string_view finding) { result.findings.emplace_back(finding); });
  CHECK(result.summary.n_findings == static_cast<std::int64_t>(result.findings.size()));
  return result;
}

Verified verified_index(const std::string& path, const std::string& lines) {
  Verified result;
  result.summary = verify_index(path, lines, [&](std::string_view finding) { result.findings.emplace_back(finding); });
  CHECK(result.summary.n_findings == static_cast<std::int64_t>(result.findings.size()));
  return result;
}

/// That there is one finding, with these parts.
void check_one(const Verified& result, std::initializer_list<const char*> parts) {
  REQUIRE(result.findings.size() == 1);
  INFO(result.findings[0]);
  for (const char* part : parts) CHECK(contains(result.findings[0], part));
}

}  // namespace

TEST_CASE("What Modalities wrote is in order") {
  const Verified packed = verified(fixture("modalities/small.pbin"), {.vocab_size = 50257, .end_of_document = 50256});
  CHECK(packed.findings.empty());
  CHECK(packed.summary.n_documents == 25);
  CHECK(packed.summary.n_tokens == PackedFile(fixture("modalities/small.pbin")).n_tokens());
  for (const std::string name : {"small", "small_nonl"}) {
    CHECK(verified_index(fixture("modalities/" + name + ".idx"), fixture("modalities/" + name + ".jsonl"))
              .findings.empty());
  }
}

TEST_CASE("Each thing that is wrong with a packed file is one finding") {
  TemporaryFolder folder;
  const std::string data = token_bytes({1, 2, 3}, 2), longer = token_bytes({1, 2, 3, 0, 0, 0, 0, 0, 0, 4}, 2);
  const auto found = [&](const std::string& bytes, const VerifySettings& settings = {}) {
    return verified(folder.write("a.pbin", bytes), settings);
  };
  check_one(found(""), {"12"});
  check_one(found(packed_bytes(data, 3, {{0, 6}})), {"3 bytes per token"});
  check_one(found(number_bytes(~std::uint64_t{0}, 8) + number_bytes(2, 4) + data), {"promises"});
  check_one(found(packed_bytes(data, 4, {{0, 4}})), {"no multiple of 4"});
  CHECK(found(packed_bytes(data, 2, std::vector<DocumentSpan>{})).findings.size() == 2);  // and tokens in none
  check_one(found(packed_bytes(data, 2, {{0, 2}, {4, 2}})), {"document 1", "2 bytes are in no document"});
  check_one(found(packed_bytes(data, 2, {{0, 4}, {2, 4}})), {"document 1", "byte 2", "before the end"});
  check_one(found(packed_bytes(data, 2, {{0, 4}})), {"last 2 bytes"});
  check_one(found(packed_bytes(data, 2, {{0, 6}, {6, 2}})), {"document 1", "beyond"});
  check_one(found(packed_bytes(data, 2, {{0, 6}, {6, ~0ull >> 1}})), {"document 1", "beyond"});
  CHECK(found(packed_bytes(data, 2, {{0, 3}, {3, 3}})).findings.size() == 2);
  check_one(found(packed_bytes(longer, 2, {{0, 6}, {18, 2}})), {"12 bytes", "Modalities"});
  check_one(found(packed_bytes(Documents{{1, 5, 7, 6}, {2}}, 2), {.vocab_size = 6}),
            {"document 0", "2 ids", "not below 6", "7 at token 2"});
  check_one(found(packed_bytes(Documents{{1, 9}, {2}, {9}}, 2), {.end_of_document = 9}), {"document 1", "in 2"});
  check_one(found(packed_bytes(Documents{{1, 9}, {}}, 2), {.end_of_document = 9}), {"document 1", "no tokens"});
  check_one(found(packed_bytes(Documents{{1}}, 1), {.vocab_size = 257}), {"256 ids"});
  check_one(found(packed_bytes(Documents{{0xffffffff}}, 4), {.vocab_size = 100000}), {"4294967295"});
  const Verified empty = found(packed_bytes(Documents{{9}, {1, 9}}, 2), {.end_of_document = 9});
  CHECK(empty.findings.empty());
  CHECK(empty.summary.n_empty_documents == 1);
  CHECK(contains(error_of([&] { verified(folder.file("no.pbin")); }), "[FILE-01]"));
}

TEST_CASE("A packed file that is cut short anywhere is found out, and one with any byte changed never does harm") {
  TemporaryFolder folder;
  const std::string good = packed_bytes(Documents{{1, 2, 3}, {4, 5}, {}, {6}}, 2);
  for (std::size_t size = 0; size < good.size(); ++size) {
    CHECK(!verified(folder.write("a.pbin", good.substr(0, size))).findings.empty());
  }
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int value : {0, 1, 0x7f, 0x80, 0xff}) {
      std::string changed = good;
      changed[i] = static_cast<char>(value);
      const Verified result = verified(folder.write("a.pbin", changed), {.vocab_size = 7});
      if (changed != good && i < 8) CHECK(!result.findings.empty());
    }
  }
}

TEST_CASE("Each line that an index gets wrong is one finding") {
  TemporaryFolder folder;
  const std::string text = "{\"a\": 1}\n{\"b\": 22}\n[]";
  const std::string lines = folder.write("a.jsonl", text);
  const auto found = [&](const std::vector<DocumentSpan>& spans) {
    return verified_index(folder.write("a.idx", pickled(spans)), lines);
  };
  CHECK(found({{0, 8}, {9, 9}, {19, 2}}).findings.empty());
  check_one(found({{0, 8}, {9, 8}, {19, 2}}), {"document 1", "8 bytes at byte 9", "line 2 has 9 at 9"});
  check_one(found({{0, 8}, {9, 9}}), {"1 lines of the text", "line 3"});
  check_one(found({{19, 2}}), {"2 lines of the text", "line 1"});
  check_one(found({{0, 8}, {0, 8}, {9, 9}, {19, 2}}), {"document 1", "8 bytes at byte 0", "line 2 has 9 at 9"});
  check_one(found({{0, 8}, {9, 9}, {19, 2}, {22, 5}}), {"1 documents more"});
  CHECK(found({{0, 8}, {10, 9}, {18, 2}}).findings.size() == 2);
  check_one(verified_index(folder.write("a.idx", "x"), lines), {"index"});
  check_one(verified_index(folder.write("a.idx", pickled({{0, 7}})), folder.write("b.jsonl", "{\"a\": 1\n")),
            {"line 1", "JSON"});
}

TEST_CASE("Lines that are no documents may be missing in an index, and no others") {
  TemporaryFolder folder;
  const std::string lines = folder.write("a.jsonl", "\n{\"a\": 1}\nbroken\n\n{\"b\": 22}\n[]\n{\n");
  const std::string index = folder.file("a.idx");
  index_json_lines(lines, index, {.on_error = OnError::skip});
  CHECK(verified_index(index, lines).findings.empty());
  CHECK(verified_index(index, lines).summary.n_documents == 3);
  const auto found = [&](const std::vector<DocumentSpan>& spans) {
    return verified_index(folder.write("b.idx", pickled(spans)), lines);
  };
  check_one(found({{1, 8}, {28, 2}}), {"1 lines of the text", "line 5"});
  check_one(found({{1, 8}, {10, 6}, {18, 9}, {28, 2}}), {"line 3 (byte 10)", "JSON"});
  check_one(found({{1, 8}, {18, 9}, {28, 2}, {31, 1}}), {"line 7", "JSON"});
}

TEST_CASE("A line that is too long to be held may be missing in an index, and is a fault in one") {
  TemporaryFolder folder;
  constexpr std::uint64_t n_bytes = std::uint64_t{65} << 20;
  const std::string lines = folder.write("a.jsonl", "1\n\"" + std::string(n_bytes - 2, 'x') + "\"\n2\n");
  const std::string index = folder.file("a.idx");
  index_json_lines(lines, index, {.on_error = OnError::skip});
  const Verified skipped = verified_index(index, lines);
  CHECK(skipped.findings.empty());
  CHECK(skipped.summary.n_documents == 2);
  const auto found = [&](const std::vector<DocumentSpan>& spans) {
    return verified_index(folder.write("b.idx", pickled(spans)), lines);
  };
  check_one(found({{0, 1}, {2, n_bytes}, {n_bytes + 3, 1}}), {"line 2 (byte 2)", "68157440 bytes", "67108864"});
  check_one(found({{0, 1}}), {"1 lines of the text", "line 3"});
}

TEST_CASE("A loss mask beside a packed file must be its own") {
  const auto chat_fixture = [](const std::string& name) {
    return monomorph::read_text_file(std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/" + name);
  };
  TemporaryFolder folder;
  const std::string packed = folder.write("a.pbin", chat_fixture("set.pbin"));
  CHECK(!verified(packed).summary.has_loss_mask);
  std::string mask = chat_fixture("set.mask");
  folder.write("a.mask", mask);
  CHECK(verified(packed).findings.empty());
  CHECK(verified(packed).summary.has_loss_mask);
  mask.back() ^= 1;
  folder.write("a.mask", mask);
  check_one(verified(packed), {"a.mask", "its hash"});
  folder.write("a.mask", chat_fixture("set.mask"));
  std::string tokens = chat_fixture("set.pbin");
  tokens[20] ^= 1;
  check_one(verified(folder.write("a.pbin", tokens)), {"a.mask", "was not made with"});
}
