// Several inputs, patterns and compressed files, as commands that read texts take them.
#include "commands.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#ifdef MONOMORPH_HAS_ZSTD
#include <zstd.h>
#endif

using namespace monomorph::testing;
namespace fs = std::filesystem;

namespace {

void gzip(const std::string& from, const std::string& to) {
  const ProcessResult result =
      run_process({"python3", "-c",
                   "import gzip, sys; gzip.open(sys.argv[2], 'wb').write(open(sys.argv[1], 'rb').read())", from, to});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
}

#ifdef MONOMORPH_HAS_ZSTD
void zstandard(const std::string& from, const std::string& to) {
  const std::string text = read_bytes(from);
  std::string packed(::ZSTD_compressBound(text.size()), '\0');
  packed.resize(::ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 3));
  write_bytes(to, packed);
}
#endif

/// A folder with lines in one file, `all.jsonl`, and the same in parts, of which the last lacks its newline.
struct Parts {
  TemporaryFolder folder;
  std::string operator/(const std::string& name) const { return folder / name; }
  Parts() {
    const std::string lines = shakespeare_lines(400'000);
    const std::size_t first = lines.find('\n', 100'000) + 1, second = lines.find('\n', 200'000) + 1;
    write_bytes(folder / "all.jsonl", lines);
    write_bytes(folder / "part_1.jsonl", lines.substr(0, first));
    write_bytes(folder / "part_2.jsonl", lines.substr(first, second - first - 1));
    write_bytes(folder / "part_3.jsonl", lines.substr(second));
  }
  ProcessResult pack(const Arguments& inputs, const std::string& output, const Arguments& more = {}) const {
    Arguments all{"pack", "--tokenizer", data_fixture("gpt2_tokenizer.json"), "--output", folder / output};
    for (const std::string& input : inputs) all.push_back(folder / input);
    all.insert(all.end(), more.begin(), more.end());
    return run_data(all);
  }
  /// That packing gives the bytes of all lines in one file.
  void check_packs(const Arguments& inputs, const Arguments& more = {}) const {
    CAPTURE(inputs);
    if (!fs::exists(folder / "all.pbin")) CHECK(pack({"all.jsonl"}, "all.pbin").exit_code == 0);
    const ProcessResult result = pack(inputs, "packed.pbin", more);
    CAPTURE(result.err);
    CHECK(result.exit_code == 0);
    const bool same = read_bytes(folder / "packed.pbin") == read_bytes(folder / "all.pbin");
    CHECK(same);
    fs::remove(folder / "packed.pbin");
  }
};

}  // namespace

TEST_CASE("several inputs are packed as if they were one, in the order of the arguments or of the names") {
  const Parts parts;
  parts.check_packs({"part_1.jsonl", "part_2.jsonl", "part_3.jsonl"});
  parts.check_packs({"part_?.jsonl"}, {"--threads", "3"});
  parts.check_packs({"part_1.jsonl", "part_*.jsonl"});
  CHECK(parts.pack({"part_3.jsonl", "part_1.jsonl", "part_2.jsonl"}, "other.pbin").exit_code == 0);
  const bool same = read_bytes(parts / "other.pbin") == read_bytes(parts / "all.pbin");
  CHECK_FALSE(same);
  check_refused(parts.pack({"none_*.jsonl"}, "x.pbin"), 2, {"[DATA-74]", "none_*.jsonl"});
  check_refused(parts.pack({"part_1.jsonl", "nowhere.jsonl"}, "x.pbin"), 1, {"[FILE-01]", "nowhere.jsonl"});
  check_refused(parts.pack({"part_1.jsonl", "part_2.jsonl"}, "x.pbin", {"--resume"}), 2, {"[DATA-25]", "--resume"});
  write_bytes(parts / "text.txt", "one document");
  check_refused(parts.pack({"part_1.jsonl", "text.txt"}, "x.pbin"), 2, {"[DATA-75]", "text.txt"});
  CHECK(fs::exists(parts / "part_2.jsonl"));
  check_refused(parts.pack({"part_*.jsonl"}, "part_2.jsonl", {"--force"}), 2, {"[DATA-10]", "part_2.jsonl"});
}

TEST_CASE("a line that is no document is named by its own file, and counted in all") {
  const Parts parts;
  write_bytes(parts / "part_2.jsonl", "{\"text\": \"a\"}\n{\"text\": 5}\n");
  check_refused(parts.pack({"part_?.jsonl"}, "x.pbin"), 1, {"part_2.jsonl\", line 2 (document 2, byte 14)"});
  const ProcessResult skipped = parts.pack({"part_?.jsonl"}, "x.pbin", {"--on-error", "skip"});
  CAPTURE(skipped.err);
  CHECK(skipped.exit_code == 0);
  const auto report = nlohmann::json::parse(read_bytes(parts / "x.pbin.skipped.jsonl"));
  const std::string first = read_bytes(parts / "part_1.jsonl");
  CHECK(report.at("line") == std::count(first.begin(), first.end(), '\n') + 2);
  CHECK(report.at("offset") == first.size() + 14);
  CHECK(report.at("input") == parts / "part_2.jsonl");
  CHECK(report.at("input_line") == 2);
}

#ifdef MONOMORPH_HAS_ZLIB
TEST_CASE("compressed inputs are packed as their text, beside others, resumed, and refused when damaged") {
  const Parts parts;
  gzip(parts / "part_1.jsonl", parts / "part_1.jsonl.gz");
  parts.check_packs({"part_1.jsonl.gz", "part_2.jsonl", "part_3.jsonl"});
  gzip(parts / "all.jsonl", parts / "all.jsonl.gz");
  parts.check_packs({"all.jsonl.gz"}, {"--resume"});
#ifdef MONOMORPH_HAS_ZSTD
  zstandard(parts / "part_2.jsonl", parts / "part_2.jsonl.zst");
  parts.check_packs({"part_1.jsonl.gz", "part_2.jsonl.zst", "part_3.jsonl"});
#endif
  const std::string whole = read_bytes(parts / "part_1.jsonl.gz");
  write_bytes(parts / "cut.jsonl.gz", whole.substr(0, whole.size() / 2));
  check_refused(parts.pack({"cut.jsonl.gz"}, "x.pbin"), 1, {"[DATA-70]", "cut.jsonl.gz", "cut short"});
  CHECK_FALSE(fs::exists(parts / "x.pbin"));
  CHECK_FALSE(fs::exists(parts / "x.pbin.partial"));
  fs::copy(parts / "part_1.jsonl", parts / "plain.jsonl.gz");
  check_refused(parts.pack({"plain.jsonl.gz"}, "x.pbin"), 1, {"[DATA-70]", "plain.jsonl.gz"});
  check_refused(run_data({"index", parts / "all.jsonl.gz", "--output", parts / "all.idx"}), 2, {"[DATA-73]"});
  fs::copy(parts / "all.jsonl.gz", parts / "all.csv.gz");
  check_refused(parts.pack({"all.csv.gz"}, "x.pbin"), 2, {"[DATA-40]", "all.csv.gz"});
}

TEST_CASE("a text and the texts of a tokenizer may be compressed, too") {
  const Parts parts;
  fs::copy(parts / "all.jsonl", parts / "text.txt");
  gzip(parts / "text.txt", parts / "zipped.txt.gz");
  CHECK(parts.pack({"text.txt"}, "plain.pbin").exit_code == 0);
  CHECK(parts.pack({"zipped.txt.gz"}, "zipped.pbin").exit_code == 0);
  const bool same = read_bytes(parts / "plain.pbin") == read_bytes(parts / "zipped.pbin");
  CHECK(same);
  gzip(parts / "part_2.jsonl", parts / "part_2.jsonl.gz");
  fs::rename(parts / "part_2.jsonl", parts / "two.jsonl");
  const auto train = [&](const Arguments& inputs, const std::string& output) {
    Arguments all{"train-tokenizer", "--vocab-size", "400", "--output", parts / output};
    for (const std::string& input : inputs) all.push_back(parts / input);
    CHECK(run_data(all).exit_code == 0);
    return read_bytes(parts / output);
  };
  const bool same_tokenizer =
      train({"part_1.jsonl", "two.jsonl", "part_3.jsonl"}, "plain.json") == train({"part_*.jsonl*"}, "zipped.json");
  CHECK(same_tokenizer);
}
#endif
