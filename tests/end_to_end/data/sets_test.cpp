// The commands of monomorph-data on existing sets, as a user calls them.
#include "commands.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

using namespace monomorph::testing;

namespace {

using Json = nlohmann::json;

const std::string small = data_fixture("modalities/small.pbin"), tokenizer = data_fixture("gpt2_tokenizer.json");

void check_verified(const std::string& path) {
  const ProcessResult result = run_data({"verify", path, "--tokenizer", tokenizer, "--eod", "<|endoftext|>"});
  INFO(result.out << result.err);
  CHECK(result.exit_code == 0);
}

bool same_bytes(const std::string& path, const std::string& other) { return read_bytes(path) == read_bytes(other); }

/// That verify finds faults: a line on standard output for each, and one on standard error.
void check_faults(const ProcessResult& result, std::int64_t n_faults) {
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 1);
  CHECK(std::ranges::count(result.out, '\n') == n_faults);
  CHECK(std::ranges::count(result.err, '\n') == 1);
  CHECK(contains(result.err, "[DATA-51]"));
  CHECK(contains(result.err, std::to_string(n_faults) + " faults"));
}

}  // namespace

TEST_CASE("a set is cut, merged, parted, shuffled and converted, and stays in order") {
  const TemporaryFolder folder;
  const Json chunks = run_data_json({"chunk", small, "--chunks", "3", "--seed", "5", "--output", folder / "c.pbin"});
  Arguments merge{"merge", "--output", folder / "merged.pbin"};
  std::int64_t n_documents = 0;
  for (const Json& chunk : chunks.at("outputs")) {
    merge.push_back(chunk.at("output"));
    n_documents += chunk.at("documents").get<std::int64_t>();
  }
  CHECK(merge[3] == folder / "c-00001-of-00003.pbin");
  CHECK(n_documents == 25);
  CHECK(run_data_json(merge).at("documents") == 25);
  CHECK(run_data_json({"shuffle", small, "--seed", "5", "--output", folder / "s.pbin"}).at("seed") == 5);
  CHECK(same_bytes(folder / "merged.pbin", folder / "s.pbin"));
  run_data_json({"chunk", small, "--chunk", "2/3", "--seed", "5", "--output", folder / "second.pbin"});
  CHECK(same_bytes(folder / "second.pbin", folder / "c-00002-of-00003.pbin"));

  const Json split = run_data_json(
      {"split", small, "--documents", "5", "--tail", "--train", folder / "t.pbin", "--held-out", folder / "h.pbin"});
  CHECK(split.at("train").at("documents") == 20);
  CHECK(split.at("held_out").at("documents") == 5);
  run_data_json({"merge", folder / "t.pbin", folder / "h.pbin", "--output", folder / "whole.pbin"});
  CHECK(same_bytes(folder / "whole.pbin", small));

  CHECK(run_data_json({"convert", small, "--to", "megatron", "--output", folder / "m.bin"}).at("to") == "megatron");
  CHECK(run_data_json({"convert", folder / "m.bin", "--output", folder / "back.pbin"}).at("from") == "megatron");
  CHECK(same_bytes(folder / "back.pbin", small));
  run_data_json({"convert", small, "--to", "llm.c", "--output", folder / "l.bin"});
  run_data_json({"convert", folder / "l.bin", "--eod-id", "50256", "--output", folder / "ends.pbin"});
  run_data_json({"convert", folder / "ends.pbin", "--to", "llm.c", "--output", folder / "again.bin"});
  CHECK(same_bytes(folder / "again.bin", folder / "l.bin"));
  CHECK(!same_bytes(folder / "ends.pbin", small));  // one text holds the token that ends documents
  for (const std::string name : {"merged", "t", "h", "back"}) check_verified(folder / (name + ".pbin"));
}

TEST_CASE("documents are shown as ids and as text") {
  const Json statistics = run_data_json({"inspect", small});
  CHECK(statistics.at("documents") == 25);
  CHECK(statistics.at("bytes_per_token") == 2);
  std::int64_t n_in_bins = 0;
  for (const Json& bin : statistics.at("histogram")) n_in_bins += bin.at("documents").get<std::int64_t>();
  CHECK(n_in_bins == 25);
  CHECK(contains(run_data({"inspect", small}).out, "documents        25\n"));
  const std::string line = run_data({"inspect", data_fixture("modalities/small.idx"), "--document", "3"}).out;
  const std::string text = Json::parse(line).at("text");
  CHECK(run_data({"inspect", small, "--document", "3", "--tokenizer", tokenizer}).out == text + "<|endoftext|>\n");
  CHECK(contains(run_data({"inspect", small, "--document", "3"}).out, " 50256\n"));
  check_refused(run_data({"inspect", small, "--document", "25"}), 2, {"[DATA-52]", "it has 25"});
  check_refused(run_data({"inspect", small, "--tokenizer", tokenizer}), 2, {"[DATA-10]", "--document"});
}

TEST_CASE("sets made with lines skipped are shown, verified and filtered by what is in them") {
  const TemporaryFolder folder;
  const std::string lines = folder / "a.jsonl", index = folder / "a.idx", set = folder / "a.pbin";
  write_bytes(lines, "{\"text\": \"a\", \"n\": 1}\n\nbroken\n{\"text\": \"b\", \"n\": 2}\n{\"n\": 3}\n");
  run_data_json({"index", lines, "--output", index, "--on-error", "skip"});
  CHECK(run_data({"inspect", index, "--document", "1"}).out == "{\"text\": \"b\", \"n\": 2}\n");
  CHECK(run_data_json({"inspect", index, "--document", "2", "--records", lines}).at("record") == "{\"n\": 3}");
  CHECK(run_data({"verify", index}).exit_code == 0);
  run_data_json({"pack", lines, "--tokenizer", tokenizer, "--output", set, "--on-error", "skip"});
  const Arguments filter{"filter", set, "--where", "/n == 2", "--records", lines, "--output", folder / "f.pbin"};
  Arguments told = filter;
  told.insert(told.end(), {"--skipped", set + ".skipped.jsonl"});
  CHECK(run_data_json(told).at("documents") == 1);
  CHECK(run_data({"inspect", folder / "f.pbin", "--document", "0", "--tokenizer", tokenizer}).out ==
        "b<|endoftext|>\n");
}

TEST_CASE("a SentencePiece file shows and verifies what was packed with it") {
  const TemporaryFolder folder;
  const std::string model = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/tokenizers/bpe.model";
  write_bytes(folder / "a.jsonl", "{\"text\": \"To be or not\"}\n");
  run_data_json({"pack", folder / "a.jsonl", "--tokenizer", model, "--eod", "</s>", "--output", folder / "a.pbin"});
  CHECK(run_data({"inspect", folder / "a.pbin", "--document", "0", "--tokenizer", model}).out == "To be or not\n");
  CHECK(run_data({"verify", folder / "a.pbin", "--tokenizer", model, "--eod", "</s>"}).exit_code == 0);
  check_faults(run_data({"verify", folder / "a.pbin", "--tokenizer", model, "--eod", "<s>"}), 1);
  check_refused(run_data({"verify", folder / "a.pbin", "--tokenizer", model, "--eod", "<none>"}), 2, {"[TOK-06]"});
}

TEST_CASE("lines are filtered by what their records hold") {
  const TemporaryFolder folder;
  write_bytes(folder / "a.jsonl", "{\"l\": \"en\", \"n\": 1}\n{\"l\": \"de\", \"n\": 2}\n{\"l\": \"en\", \"n\": 3}\n");
  const Json kept = run_data_json(
      {"filter", folder / "a.jsonl", "--where", "/l == \"en\" && /n > 1", "--output", folder / "b.jsonl"});
  CHECK(kept.at("documents_read") == 3);
  CHECK(kept.at("documents") == 1);
  CHECK(read_bytes(folder / "b.jsonl") == "{\"l\": \"en\", \"n\": 3}\n");
  check_refused(run_data({"filter", folder / "a.jsonl", "--where", "/l = \"en\"", "--output", folder / "c.jsonl"}), 2,
                {"[DATA-43] column 4 "});
  check_refused(run_data(
                    {"filter", folder / "a.jsonl", "--where", "/lang == 1 || true", "--output", folder / "c.jsonl"}),
                1, {"[DATA-44]", "/lang"});
  CHECK(n_entries(folder.path()) == 2);
}

TEST_CASE("faults are listed, a line for each, and the exit code tells of them") {
  const TemporaryFolder folder;
  std::string bytes = read_bytes(small);
  write_bytes(folder / "short.pbin", bytes.substr(0, bytes.size() - 1));
  check_faults(run_data({"verify", folder / "short.pbin"}), 1);
  check_faults(run_data({"verify", small, "--vocab-size", "100"}), 25);
  const ProcessResult result = run_data({"verify", small, "--eod-id", "5", "--json"});
  CHECK(result.exit_code == 1);
  CHECK(Json::parse(result.out).at("findings").size() == 25);
  CHECK(run_data({"verify", data_fixture("modalities/small.idx")}).exit_code == 0);
  write_bytes(folder / "small.jsonl", read_bytes(data_fixture("modalities/small.jsonl")) + "{}\n");
  check_faults(run_data({"verify", data_fixture("modalities/small.idx"), "--records", folder / "small.jsonl"}), 1);
}

TEST_CASE("what exists is not written over, unless it is asked for") {
  const TemporaryFolder folder;
  write_bytes(folder / "a.pbin", "mine");
  write_bytes(folder / "m.idx", "mine");
  write_bytes(folder / "c-00002-of-00002.pbin", "mine");
  for (const Arguments& arguments :
       std::vector<Arguments>{{"merge", small, small, "--output", folder / "a.pbin"},
                              {"shuffle", small, "--output", folder / "a.pbin"},
                              {"chunk", small, "--chunk", "1/2", "--output", folder / "a.pbin"},
                              {"chunk", small, "--chunks", "2", "--output", folder / "c.pbin"},
                              {"filter", small, "--min-tokens", "2", "--output", folder / "a.pbin"},
                              {"split", small, "--fraction", "0.5", "--train", folder / "t.pbin", "--held-out",
                               folder / "a.pbin"},
                              {"convert", small, "--token-bytes", "4", "--output", folder / "a.pbin"},
                              {"convert", small, "--to", "megatron", "--output", folder / "m.bin"}}) {
    CAPTURE(arguments[0]);
    check_refused(run_data(arguments), 2, {"[DATA-01]", "--force"});
    CHECK(n_entries(folder.path()) == 3);
  }
  CHECK(read_bytes(folder / "a.pbin") == "mine");
  run_data_json({"shuffle", small, "--output", folder / "a.pbin", "--force"});
  check_verified(folder / "a.pbin");
  check_refused(run_data({"split", small, "--fraction", "0.5", "--train", folder / "t.pbin", "--held-out",
                          folder / "./t.pbin"}),
                2, {"[DATA-10]", "same file"});
}

TEST_CASE("a wrong command line on sets is refused") {
  const TemporaryFolder folder;
  const std::string output = folder / "a.pbin";
  check_refused(run_data({"chunk", small, "--output", output}), 2, {"[DATA-10]"});
  check_refused(run_data({"chunk", small, "--chunks", "2", "--chunk", "1/2", "--output", output}), 2, {"[DATA-10]"});
  for (const std::string which :
       {"3/2", "0/2", "1", "/2", "1/", "1/0", "-1/2", "1/2/3", "a/b", "1/99999999999999999999"})
    check_refused(run_data({"chunk", small, "--chunk=" + which, "--output", output}), 2, {"[DATA-42]"});
  check_refused(run_data({"chunk", small, "--chunks", "26", "--output", output}), 2, {"[DATA-42]", "25 documents"});
  check_refused(run_data({"split", small, "--train", output, "--held-out", folder / "b.pbin"}), 2, {"[DATA-10]"});
  check_refused(run_data({"shuffle", small, "--memory", "0", "--output", output}), 2, {"[DATA-10]"});
  check_refused(run_data({"convert", small, "--to", "numpy", "--output", output}), 2, {"[DATA-50]", "numpy"});
  check_refused(run_data({"verify", small, "--eod", "x"}), 2, {"[DATA-10]"});
  check_refused(run_data({"verify", small, "--tokenizer", tokenizer, "--eod", "nonsense"}), 2, {"[TOK-06]"});
  check_refused(run_data({"verify", data_fixture("modalities/small.jsonl")}), 2, {"[DATA-40]"});
  CHECK(n_entries(folder.path()) == 0);
}

TEST_CASE("every command that writes says that the disk is full, and leaves nothing of its outputs") {
  const TemporaryFolder folder;
  const std::string set = folder / "big.pbin", lines = folder / "a.jsonl", many = folder / "many.jsonl";
  const std::string out = folder / "disk/out.pbin", chats = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/";
  Arguments merge{"merge", "--output", set};
  for (int i = 0; i < 60; ++i) merge.push_back(small);
  REQUIRE(run_data(merge).exit_code == 0);
  merge[2] = out;
  write_bytes(lines, shakespeare_lines(1 << 20));
  write_bytes(many, [] {
    std::string text;
    for (int i = 0; i < 40'000; ++i) text += "1\n";
    return text;
  }());
  std::filesystem::create_directory(folder / "disk");
  const std::vector<Arguments> commands{
      {"index", many, "--output", folder / "disk/out.idx"},
      {"pack", lines, "--tokenizer", tokenizer, "--output", out},
      {"train-tokenizer", lines, "--vocab-size", "4000", "--output", folder / "disk/tokenizer.json"},
      merge,
      {"shuffle", set, "--output", out},
      {"shuffle", lines, "--output", folder / "disk/out.jsonl"},
      {"chunk", set, "--chunks", "3", "--output", out},
      {"chunk", set, "--chunk", "1/2", "--output", out},
      {"filter", set, "--min-tokens", "1", "--output", out},
      {"filter", lines, "--where", "length(/text) > 0", "--output", folder / "disk/out.jsonl"},
      {"split", set, "--fraction", "0.5", "--train", out, "--held-out", folder / "disk/held_out.pbin"},
      {"convert", set, "--token-bytes", "4", "--output", out},
      {"convert", set, "--to", "megatron", "--output", folder / "disk/out.bin"},
      {"convert", set, "--to", "nanogpt", "--output", folder / "disk/out.bin"},
      {"chat", chats + "set.jsonl", "--tokenizer", chats + "tokenizer.json", "--template", "chatml",
       "--sequence-length", "16384", "--output", out}};
  for (const Arguments& command : commands) {
    CAPTURE(command[0], command[2]);
    ProcessResult result;
    if (!run_on_small_disk(folder / "disk", "16k", data_command(command), result))
      MONOMORPH_SKIP("this machine does not allow mounting a small disk");
    check_refused(result, 1, {"[FILE-02]", "the disk is full"});
    CHECK(result.out.empty());  // which lists what is left there
  }
}

TEST_CASE("a set that is cut short while it is read is named, and nothing is left") {
  const TemporaryFolder folder;
  const std::string set = folder / "big.pbin", records = folder / "records";
  Arguments merge{"merge", "--output", set};
  for (int i = 0; i < 60; ++i) merge.push_back(small);
  REQUIRE(run_data(merge).exit_code == 0);
  REQUIRE(::mkfifo(records.c_str(), 0600) == 0);
  const int writer = ::open(records.c_str(), O_RDWR);
  REQUIRE(writer >= 0);
  Process process(
      data_command({"filter", set, "--where", "/a", "--records", records, "--output", folder / "out.pbin"}));
  for (int i = 0; i < 60000 && n_entries(folder.path()) < 3; ++i) ::usleep(1000);  // it begins and waits for records
  std::filesystem::resize_file(set, 4096);
  std::string lines;
  for (int i = 0; i < 60 * 25; ++i) lines += "{\"a\": true}\n";
  REQUIRE(::write(writer, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size()));
  check_refused(process.wait(), 1, {"[DATA-09]", "big.pbin"});
  ::close(writer);
  CHECK(n_entries(folder.path()) == 2);
}

TEST_CASE("Ctrl-C removes what was begun, and after kill -9 the output is not there, and can be made again") {
  const TemporaryFolder folder;
  const std::string records = folder / "records";
  REQUIRE(::mkfifo(records.c_str(), 0600) == 0);
  const int writer = ::open(records.c_str(), O_RDWR);
  REQUIRE(writer >= 0);
  for (const int number : {SIGINT, SIGTERM, SIGKILL}) {
    CAPTURE(number);
    Process process(
        data_command({"filter", small, "--where", "/a", "--records", records, "--output", folder / "out.pbin"}));
    for (int i = 0; i < 60000 && n_entries(folder.path()) < 2; ++i) ::usleep(1000);  // it begins and waits for records
    process.signal(number);
    REQUIRE(::write(writer, "{\"a\": true}\n", 12) == 12);
    const ProcessResult result = process.wait();
    CHECK(result.exit_code == 128 + number);
    CHECK(!std::filesystem::exists(folder / "out.pbin"));
    if (number != SIGKILL) CHECK(contains(result.err, "[DATA-11]"));
    if (number != SIGKILL) CHECK(n_entries(folder.path()) == 1);
  }
  ::close(writer);
  run_data_json({"shuffle", small, "--output", folder / "out.pbin"});
}
