// Parquet files as inputs: the same records as in JSON Lines give the same bytes (tests/fixtures/parquet).
#include "commands.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

using namespace monomorph::testing;
namespace fs = std::filesystem;

namespace {

std::string fixture(const std::string& name) {
  return std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/parquet/" + name;
}

struct Outputs {
  TemporaryFolder folder;
  std::string operator/(const std::string& name) const { return folder / name; }
  ProcessResult run(const std::string& command, const Arguments& inputs, const std::string& output,
                    const Arguments& more = {}) const {
    Arguments all{command, "--output", folder / output};
    if (command != "train-tokenizer") {
      all.emplace_back("--tokenizer");
      all.push_back(command == "chat" ? std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/tokenizer.json"
                                      : data_fixture("gpt2_tokenizer.json"));
    }
    all.insert(all.end(), inputs.begin(), inputs.end());
    all.insert(all.end(), more.begin(), more.end());
    return run_data(all);
  }
  /// What a command writes of these inputs.
  std::string made(const std::string& command, const Arguments& inputs, const Arguments& more = {}) const {
    CAPTURE(command, inputs);
    const ProcessResult result = run(command, inputs, "made", more);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
    std::string bytes = read_bytes(folder / "made");
    if (fs::exists(folder / "made.mask")) bytes += read_bytes(folder / "made.mask");
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path())) fs::remove(entry.path());
    return bytes;
  }
};

}  // namespace

#ifdef MONOMORPH_HAS_PARQUET
TEST_CASE("the same records in JSON Lines and in Parquet are packed to the same bytes") {
  const Outputs outputs;
  const std::string lines = fixture("documents.jsonl"), expected = outputs.made("pack", {lines});
  for (const char* name :
       {"none", "snappy", "gzip", "zstd", "brotli", "lz4", "plain", "delta", "large_string", "dictionary", "binary"}) {
    const bool same = outputs.made("pack", {fixture(name) + ".parquet"}) == expected;
    CAPTURE(name);
    CHECK(same);
  }
  const Arguments table{fixture("zstd.parquet")};
  CHECK((outputs.made("pack", table, {"--resume"}) == expected));
  CHECK((outputs.made("pack", table, {"--threads", "3"}) == expected));
  CHECK((outputs.made("pack", {lines, table[0]}) == outputs.made("pack", {table[0], lines})));
  const Arguments titles{"--field", "/meta/title"};
  CHECK((outputs.made("pack", table, titles) == outputs.made("pack", {lines}, titles)));
  const Arguments merges{"--vocab-size", "300"};
  CHECK((outputs.made("train-tokenizer", table, merges) == outputs.made("train-tokenizer", {lines}, merges)));
  const Arguments pairs{"--field", "/meta/language", "--field", "/meta/title", "--sequence-length", "16"};
  CHECK((outputs.made("pairs", table, pairs) == outputs.made("pairs", {lines}, pairs)));
  CHECK((outputs.made("pairs", {lines, table[0]}, pairs) == outputs.made("pairs", {table[0], lines}, pairs)));
}

TEST_CASE("chats and preferences in Parquet are those of JSON Lines") {
  const Outputs outputs;
  const auto check = [&](const std::string& command, const std::string& name, const Arguments& more) {
    const std::string table = fixture(name + ".parquet"), lines = fixture(name + ".jsonl");
    CHECK((outputs.made(command, {table}, more) == outputs.made(command, {lines}, more)));
    CHECK((outputs.made(command, {lines, table}, more) == outputs.made(command, {table, lines}, more)));
  };
  check("chat", "chats", {"--template", "zephyr", "--sequence-length", "64"});
  check("chat", "chats", {"--template", "zephyr", "--sequence-length", "64", "--field", "/messages"});
  check("preferences", "preferences", {"--sequence-length", "64"});
  const TemporaryFolder model;
  write_bytes(model / "t.jinja", "{{ tools|tojson }}{% for m in messages %}<|im_start|>{{ m.content }}{% endfor %}");
  check("chat", "tools", {"--template", model / "t.jinja", "--sequence-length", "256"});
}

TEST_CASE("a Parquet file that cannot be packed is refused in one line, or its rows are skipped and counted") {
  const Outputs outputs;
  const auto refused = [&](const std::string& name, int exit_code, const Arguments& parts, const Arguments& more = {}) {
    check_refused(outputs.run("pack", {fixture(name)}, "x.pbin", more), exit_code, parts);
    CHECK_FALSE(fs::exists(outputs / "x.pbin"));
  };
  refused("numbers.parquet", 1, {"[DATA-03]", "numbers.parquet\", line 1", "\"/text\" is a number, not text"});
  refused("nulls.parquet", 1, {"[DATA-03]", "line 2", "no field \"/text\""});
  refused("not_utf8.parquet", 1, {"[DATA-02]", "line 2", "not UTF-8"});
  refused("no_rows.parquet", 2, {"[DATA-04]"});
  refused("dates.parquet", 2, {"[DATA-77]", "date32"});
  refused("none.parquet", 2, {"[DATA-77]", "no column \"content\"", "\"text\", \"meta\""}, {"--field", "/content"});
  refused("encrypted.parquet", 1, {"[DATA-79]"});
  refused("more_rows.parquet", 1, {"[DATA-70]"});
  const Arguments skipping{"--on-error", "skip"};
  CHECK(outputs.run("pack", {fixture("nulls.parquet")}, "x.pbin", skipping).exit_code == 0);
  const auto report = nlohmann::json::parse(read_bytes(outputs / "x.pbin.skipped.jsonl"));
  CHECK(report.at("line") == 2);
  fs::copy(fixture("documents.jsonl"), outputs / "lines.parquet");
  check_refused(outputs.run("pack", {outputs / "lines.parquet"}, "y.pbin"), 1, {"[DATA-70]", "lines.parquet"});
  check_refused(run_data({"index", fixture("none.parquet"), "--output", outputs / "x.idx"}), 2,
                {"[DATA-73]", "JSON Lines"});
  check_refused(run_data({"inspect", fixture("none.parquet")}), 2, {"[DATA-40]", "JSON Lines"});
  check_refused(run_process({"bash", "-c", "mkfifo \"$1\" && sleep 1 >\"$1\" & sleep 0.2; shift; \"$@\"", "bash",
                             outputs / "pipe.parquet", data_command({})[0], "pack", outputs / "pipe.parquet",
                             "--tokenizer", data_fixture("gpt2_tokenizer.json"), "--output", outputs / "z.pbin"}),
                2, {"[DATA-25]", "pipe.parquet"});
}
#else
TEST_CASE("without Arrow, a Parquet file is refused in a line that says how to get it") {
  const Outputs outputs;
  check_refused(outputs.run("pack", {fixture("none.parquet")}, "x.pbin"), 2,
                {"[DATA-76]", "tools/setup/install --parquet"});
  CHECK_FALSE(fs::exists(outputs / "x.pbin"));
}
#endif
