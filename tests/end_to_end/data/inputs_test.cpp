// Several inputs, patterns and compressed files, as commands that read texts take them.
#include "commands.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/gzipped_file.hpp"

#include <nlohmann/json.hpp>

#ifdef MONOMORPH_HAS_ZSTD
#include <zstd.h>
#endif

using namespace monomorph::testing;
namespace fs = std::filesystem;

namespace {

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
  check_refused(parts.pack({"part_1.jsonl", "text.txt"}, "x.pbin"), 2, {"[DATA-75]", "text.txt", "part_1.jsonl"});
  CHECK(fs::exists(parts / "part_2.jsonl"));
  check_refused(parts.pack({"part_*.jsonl"}, "part_2.jsonl", {"--force"}), 2, {"[DATA-10]", "part_2.jsonl"});
}

TEST_CASE("of several texts each is a document, as when they are packed alone and merged") {
  const Parts parts;
  const std::string text = shakespeare_lines(2'500'000);  // more than one piece
  write_bytes(parts / "text_1.txt", text.substr(0, 100));
  write_bytes(parts / "text_2.txt", text);
  write_bytes(parts / "text_3.txt", "");
  write_bytes(parts / "text_4.txt", "the end of it<|endoftext|>");
  Arguments merge{"merge", "--output", parts / "merged.pbin"};
  for (const std::string number : {"1", "2", "4"}) {
    CHECK(parts.pack({"text_" + number + ".txt"}, number + ".pbin").exit_code == 0);
    merge.push_back(parts / (number + ".pbin"));
  }
  CHECK(run_data(merge).exit_code == 0);
  const ProcessResult packed = parts.pack({"text_?.txt"}, "packed.pbin", {"--json"});
  CAPTURE(packed.err);
  CHECK(packed.exit_code == 0);
  CHECK(nlohmann::json::parse(packed.out).at("documents") == 3);
  const bool same = read_bytes(parts / "packed.pbin") == read_bytes(parts / "merged.pbin");
  CHECK(same);
  check_refused(parts.pack({"text_1.txt", "nowhere.txt"}, "x.pbin"), 1, {"[FILE-01]", "nowhere.txt"});
  check_refused(parts.pack({"text_?.txt"}, "x.pbin", {"--resume"}), 2, {"[DATA-25]", "--resume"});
  CHECK_FALSE(fs::exists(parts / "x.pbin"));
}

namespace {

/// Lines that are chats, pairs of texts, and preferences.
std::string records(int n_records) {
  std::string lines;
  for (int i = 0; i < n_records; ++i) {
    const std::string number = std::to_string(i), answer = std::string(static_cast<std::size_t>(i % 40) + 1, 'x');
    lines += nlohmann::json{{"query", "query " + number},
                            {"positive", answer},
                            {"prompt", "question " + number},
                            {"chosen", answer},
                            {"rejected", "no " + answer},
                            {"messages",
                             {{{"role", "user"}, {"content", "question " + number}},
                              {{"role", "assistant"}, {"content", answer}}}}}
                 .dump() +
             "\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("chats, pairs and preferences in several files, compressed or not, are packed as if they were in one") {
  const TemporaryFolder folder;
  const std::string lines = records(2000);
  const std::size_t first = lines.find('\n', lines.size() / 3) + 1, second = lines.find('\n', lines.size() / 2) + 1;
  write_bytes(folder / "all.jsonl", lines);
  write_bytes(folder / "part_1.jsonl", lines.substr(0, first));
  write_bytes(folder / "part_2.jsonl", lines.substr(first, second - first - 1));  // its last newline is missing
  write_bytes(folder / "part_3.jsonl", lines.substr(second));
  Arguments parts{folder / "part_1.jsonl", folder / "part_2.jsonl", folder / "part_3.jsonl"}, compressed = parts;
#ifdef MONOMORPH_HAS_ZLIB
  gzip(parts[0], compressed[0] = folder / "part_1.jsonl.gz");
#endif
#ifdef MONOMORPH_HAS_ZSTD
  zstandard(parts[2], compressed[2] = folder / "part_3.jsonl.zst");
#endif
  const std::string tokenizer = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/tokenizer.json";
  for (const std::string command : {"chat", "pairs", "preferences"}) {
    Arguments common{command, "--tokenizer", tokenizer, "--sequence-length", "128"};
    if (command == "chat") common.insert(common.end(), {"--template", "chatml"});
    if (command == "preferences") common.insert(common.end(), {"--eod", "<|im_end|>"});
    const auto run = [&](const Arguments& inputs, const Arguments& more = {}) {
      Arguments all = common;
      for (const Arguments& some : {inputs, more}) all.insert(all.end(), some.begin(), some.end());
      all.insert(all.end(), {"--output", folder / "made.pbin"});
      return run_data(all);
    };
    const auto made = [&](const Arguments& inputs, const Arguments& more = {}) {
      const ProcessResult result = run(inputs, more);
      CAPTURE(command, inputs, result.err);
      CHECK(result.exit_code == 0);
      std::string bytes = read_bytes(folder / "made.pbin") + read_bytes(folder / "made.mask");
      fs::remove(folder / "made.pbin");
      fs::remove(folder / "made.mask");
      return bytes;
    };
    CAPTURE(command);
    const std::string expected = made({folder / "all.jsonl"});
    const bool same = made(parts) == expected, same_of_pattern = made({folder / "part_?.jsonl"}) == expected,
               same_compressed = made(compressed, {"--threads", "3"}) == expected;
    CHECK(same);
    CHECK(same_of_pattern);
    CHECK(same_compressed);
    check_refused(run({folder / "none_*.jsonl"}), 2, {"[DATA-74]", "none_*.jsonl"});
    check_refused(run({parts[0], folder / "nowhere.jsonl"}), 1, {"[FILE-01]", "nowhere.jsonl"});
    check_refused(run({parts[0], folder / "made.pbin"}), 2, {"[DATA-10]", "made.pbin"});
    write_bytes(folder / "broken.jsonl", "{\n");
    check_refused(run({parts[0], folder / "broken.jsonl"}), 1, {"[DATA-02]", "broken.jsonl\", line 1 "});
    const ProcessResult skipped = run({parts[0], folder / "broken.jsonl"}, {"--on-error", "skip"});
    CHECK(skipped.exit_code == 0);
    const auto report = nlohmann::json::parse(read_bytes(folder / "made.pbin.skipped.jsonl"));
    CHECK(report.at("input") == folder / "broken.jsonl");
    CHECK(report.at("input_line") == 1);
    for (const char* const name : {"made.pbin", "made.mask", "made.pbin.skipped.jsonl"}) fs::remove(folder / name);
  }
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
