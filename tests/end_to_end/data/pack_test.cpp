// Packing that is interrupted, killed, resumed, or finds the disk full.
#include "commands.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>
#include <thread>

using namespace monomorph::testing;
namespace fs = std::filesystem;

namespace {

Arguments packing(const std::string& input, const std::string& output, const Arguments& more = {}) {
  Arguments arguments{"pack", input, "--tokenizer", data_fixture("gpt2_tokenizer.json"), "--output", output};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

/// A pipe that is never at its end, and that a test can write to without waiting for ever.
class WaitingPipe {
 public:
  explicit WaitingPipe(const std::string& path) : descriptor_(::open(path.c_str(), O_RDWR | O_NONBLOCK)) {
    REQUIRE(descriptor_ >= 0);
  }
  WaitingPipe(const WaitingPipe&) = delete;
  ~WaitingPipe() { ::close(descriptor_); }

  void write(std::string_view text) const {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!text.empty()) {
      const ssize_t n_written = ::write(descriptor_, text.data(), text.size());
      if (n_written > 0) {
        text.remove_prefix(static_cast<std::size_t>(n_written));
      } else {
        if (std::chrono::steady_clock::now() > end) FAIL("nobody reads the pipe");
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
    }
  }

 private:
  int descriptor_;
};

/// Waits until a packing has written about this much of its journal.
void wait_for_journal(const std::string& output, std::uint64_t n_bytes) {
  const std::string journal = output + ".partial.journal";
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (std::chrono::steady_clock::now() < end) {
    std::error_code missing;
    if (const auto size = fs::file_size(journal, missing); !missing && size >= n_bytes) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  FAIL("the packing never got so far");
}

}  // namespace

TEST_CASE("Millions of lines that are skipped take little memory, and a signal ends the work on them at once") {
  const TemporaryFolder folder;
  const std::string input = folder / "blank.jsonl";
  write_bytes(input, std::string(std::size_t{2} << 20, '\n') + "{\"text\": \"a\"}\n");
  const std::string chats = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/";
  const Arguments skipping{"--on-error", "skip", "--threads", "2"};
  const Arguments index{"index", input, "--output", folder / "a.idx"};
  for (Arguments arguments : {packing(input, folder / "a.pbin"), index}) {
    CAPTURE(arguments);
    arguments.insert(arguments.end(), skipping.begin(), skipping.end());
    const auto summary = run_data_json(arguments);
    CHECK(summary.at("documents") == 1);
    CHECK(summary.at("skipped") == 2 << 20);
#ifndef MONOMORPH_SANITIZE
    CHECK(summary.at("peak_memory_bytes") < 100 << 20);
#endif
  }
  for (const Arguments& command :
       {packing(input, folder / "b.pbin"), Arguments{"index", input, "--output", folder / "b.idx"},
        Arguments{"chat", input, "--tokenizer", chats + "tokenizer.json", "--template", "chatml", "--sequence-length",
                  "48", "--output", folder / "c.pbin"}}) {
    CAPTURE(command);
    Arguments arguments = data_command(command);
    arguments.insert(arguments.end(), {"--on-error", "skip", "--threads", "2"});
    const std::size_t before = n_entries(folder.path());
    Process process(arguments);
    while (n_entries(folder.path()) == before) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    process.signal(SIGTERM);
    const auto signalled = std::chrono::steady_clock::now();
    const ProcessResult result = process.wait();
    CHECK(std::chrono::steady_clock::now() - signalled < std::chrono::milliseconds(500));
    CHECK(result.exit_code == 128 + SIGTERM);
    CHECK(contains(result.err, "[DATA-11]"));
    CHECK(n_entries(folder.path()) == before);
  }
}

TEST_CASE("Ctrl-C and SIGTERM end a packing and remove what it wrote") {
  for (const int number : {SIGINT, SIGTERM}) {
    for (const std::string threads : {"1", "2", "4"}) {
      CAPTURE(number, threads);
      const TemporaryFolder folder;
      const std::string input = folder / "pipe.jsonl", output = folder / "a.pbin";
      REQUIRE(::mkfifo(input.c_str(), 0600) == 0);
      const WaitingPipe pipe(input);
      Process process(data_command(packing(input, output, {"--threads", threads})));
      pipe.write(shakespeare_lines(1 << 20));
      wait_for_journal(output, 1000);
      process.signal(number);
      check_refused(process.wait(std::chrono::seconds(30)), 128 + number, {"[DATA-11]", "nothing was written"});
      CHECK(n_entries(folder.path()) == 1);
    }
  }
}

TEST_CASE("an interrupted packing with --resume stays and is resumed") {
  const TemporaryFolder folder;
  const std::string input = folder / "a.jsonl", output = folder / "a.pbin";
  write_bytes(input, shakespeare_lines(8 << 20));
  REQUIRE(run_data(packing(input, folder / "whole.pbin")).exit_code == 0);
  Process process(data_command(packing(input, output, {"--resume", "--threads", "1"})));
  wait_for_journal(output, 1500);
  process.signal(SIGINT);
  check_refused(process.wait(), 128 + SIGINT, {"[DATA-11]", "a.pbin.partial", "--resume"});
  CHECK(fs::exists(output + ".partial"));
  check_refused(run_data(packing(input, output)), 2, {"[DATA-22]", "a.pbin.partial", "--resume", "--force"});
  const auto summary = run_data_json(packing(input, output, {"--resume"}));
  CHECK(summary.at("resumed_bytes") > 0);
  CHECK(read_bytes(output) == read_bytes(folder / "whole.pbin"));
  CHECK(n_entries(folder.path()) == 3);
}

TEST_CASE("packings killed at any moment are resumed to the same bytes") {
  const TemporaryFolder folder;
  const std::string input = folder / "a.jsonl", output = folder / "a.pbin";
  write_bytes(input, shakespeare_lines(6 << 20));
  REQUIRE(run_data(packing(input, folder / "whole.pbin")).exit_code == 0);
  std::mt19937 random(2);
  int n_killed = 0;
  for (int round = 0; round < 8; ++round) {
    Process process(data_command(packing(input, output, {"--resume"})));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 250));
    process.signal(SIGKILL);
    if (process.wait().exit_code == 128 + SIGKILL) ++n_killed;
    if (fs::exists(output)) {
      CHECK(read_bytes(output) == read_bytes(folder / "whole.pbin"));
      fs::remove(output);
      fs::remove(output + ".partial.journal");
    }
  }
  CHECK(n_killed > 0);
  CHECK(run_data(packing(input, output, {"--resume"})).exit_code == 0);
  CHECK(read_bytes(output) == read_bytes(folder / "whole.pbin"));
  CHECK(n_entries(folder.path()) == 3);
}

TEST_CASE("a full disk is said to be one, and nothing half-written is left unless it is to be resumed") {
  const TemporaryFolder folder;
  const std::string input = folder / "a.jsonl", disk = folder / "disk";
  fs::create_directory(disk);
  write_bytes(input, shakespeare_lines(3 << 20));
  ProcessResult result;
  if (!run_on_small_disk(disk, "400k", data_command(packing(input, disk + "/a.pbin")), result))
    MONOMORPH_SKIP("this machine does not allow mounting a small disk");
  check_refused(result, 1, {"[FILE-02]", "the disk is full"});
  CHECK(result.out.empty());
  REQUIRE(run_on_small_disk(disk, "400k", data_command(packing(input, disk + "/a.pbin", {"--resume"})), result));
  check_refused(result, 1, {"[FILE-02]", "the disk is full"});
  CHECK(result.out == "a.pbin.partial\na.pbin.partial.journal\n");
  write_bytes(folder / "many.jsonl", [] {
    std::string lines;
    for (int i = 0; i < 40'000; ++i) lines += "1\n";
    return lines;
  }());
  REQUIRE(run_on_small_disk(disk, "100k", data_command({"index", folder / "many.jsonl", "--output", disk + "/a.idx"}),
                            result));
  check_refused(result, 1, {"[FILE-02]", "the disk is full"});
  CHECK(result.out.empty());
}

TEST_CASE("a disk that is full at the very end leaves no report of skipped lines behind") {
  const TemporaryFolder folder;
  const std::string input = folder / "many.jsonl", disk = folder / "disk", report = disk + "/r";
  fs::create_directory(disk);
  std::string lines = "broken\n";
  for (int i = 0; i < 8000; ++i) lines += "{\"text\": \"\"}\n";
  write_bytes(input, lines);
  const Arguments skipping{"--on-error", "skip", "--report", report};
  Arguments index{"index", input, "--output", disk + "/a.idx"};
  index.insert(index.end(), skipping.begin(), skipping.end());
  ProcessResult result;
  if (!run_on_small_disk(disk, "40k", data_command(index), result))
    MONOMORPH_SKIP("this machine does not allow mounting a small disk");
  check_refused(result, 1, {"[FILE-02]"});
  CHECK(result.out.empty());
  REQUIRE(run_on_small_disk(disk, "40k", data_command(packing(input, disk + "/a.pbin", skipping)), result));
  check_refused(result, 1, {"[FILE-02]"});
  CHECK(result.out.empty());
  Arguments resumable = packing(input, disk + "/a.pbin", skipping);
  resumable.push_back("--resume");
  REQUIRE(run_on_small_disk(disk, "40k", data_command(resumable), result));
  CHECK(result.out == "a.pbin.partial\na.pbin.partial.journal\n");

  const std::string chats = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/";
  Arguments chat{"chat",
                 chats + "set.jsonl",
                 "--tokenizer",
                 chats + "tokenizer.json",
                 "--template",
                 "chatml",
                 "--sequence-length",
                 "48",
                 "--output",
                 disk + "/a.pbin"};
  chat.insert(chat.end(), skipping.begin(), skipping.end());
  REQUIRE(run_on_small_disk(disk, "4k", data_command(chat), result));
  check_refused(result, 1, {"[FILE-02]"});
  CHECK(result.out.empty());
}

TEST_CASE("a report that a killed run left behind does not keep it from being resumed") {
  const TemporaryFolder folder;
  const std::string input = folder / "a.jsonl", output = folder / "a.pbin", report = output + ".skipped.jsonl";
  write_bytes(input, "broken\n" + shakespeare_lines(8 << 20));
  const Arguments skipping{"--resume", "--on-error", "skip", "--threads", "1"};
  write_bytes(report, "mine");
  check_refused(run_data(packing(input, output, skipping)), 2, {"[DATA-01]", "skipped"});
  fs::remove(report);
  Process process(data_command(packing(input, output, skipping)));
  wait_for_journal(output, 1500);
  process.signal(SIGKILL);
  CHECK(process.wait().exit_code == 128 + SIGKILL);
  write_bytes(report, "of the run that was killed");
  CHECK(run_data_json(packing(input, output, skipping)).at("skipped") == 1);
  CHECK(contains(read_bytes(report), "\"line\":1"));
}

TEST_CASE("a pipe is packed like a file") {
  const TemporaryFolder folder;
  const std::string input = data_fixture("modalities/small.jsonl");
  const ProcessResult result = run_process(
      {"bash", "-c",
       R"(ln -s /dev/fd/0 "$1/in.jsonl"; cat "$2" | "$3" pack "$1/in.jsonl" --tokenizer "$4" -o "$1/a.pbin")", "bash",
       folder.path(), input, data_command({})[0], data_fixture("gpt2_tokenizer.json")});
  CAPTURE(result.err);
  CHECK(result.exit_code == 0);
  CHECK(read_bytes(folder / "a.pbin") == read_bytes(data_fixture("modalities/small.pbin")));
}

TEST_CASE("a document of 16 MB in one line is packed as the pieces of its text would be") {
  const TemporaryFolder folder;
  const std::string input = folder / "a.jsonl", output = folder / "a.pbin";
  std::string words;
  while (words.size() < 16'000'000) words += " the same eight words again and again, and";
  write_bytes(input, "{\"text\": \"" + words + "\"}\n{\"text\": \"b\"}\n");
  const auto summary = run_data_json(packing(input, output, {"--threads", "2"}));
  CHECK(summary.at("documents") == 2);
  const std::uint64_t n_repeats = words.size() / 42;
  CHECK(summary.at("tokens") == n_repeats * 9 + 3);
#ifndef MONOMORPH_SANITIZE
  CHECK(summary.at("peak_memory_bytes") < 300'000'000);
#endif
}

TEST_CASE("what cannot apply to an input is refused, and what contradicts itself named by its file") {
  const TemporaryFolder folder;
  write_bytes(folder / "a.txt", "text");
  check_refused(run_data(packing(folder / "a.txt", folder / "a.pbin", {"--field", "/text"})), 2,
                {"[DATA-10]", "--field", "a.txt"});
  REQUIRE(run_data(packing(folder / "a.txt", folder / "a.pbin")).exit_code == 0);
  const Arguments training{"--vocab-size", "300", "--output", folder / "t.json"};
  const auto train = [&](Arguments arguments) {
    arguments.insert(arguments.begin(), "train-tokenizer");
    arguments.insert(arguments.end(), training.begin(), training.end());
    return run_data(arguments);
  };
  check_refused(train({folder / "a.txt", folder / "a.pbin"}), 2, {"[DATA-40]", "a.pbin"});
  check_refused(train({folder / "a.txt", "--pattern", "("}), 2, {"[TOK-10]", "--pattern"});
  auto tokenizer = nlohmann::json::parse(read_bytes(data_fixture("gpt2_tokenizer.json")));
  tokenizer["added_tokens"] = {{{"id", 0}, {"content", "<x>"}}};
  write_bytes(folder / "broken.json", tokenizer.dump());
  check_refused(run_data(
                    {"pack", folder / "a.txt", "--tokenizer", folder / "broken.json", "--output", folder / "b.pbin"}),
                2, {"[TOK-03]", "broken.json"});
}

TEST_CASE("a text of 12 MB is packed with a SentencePiece file in little memory") {
  const TemporaryFolder folder;
  const std::string text = read_bytes(std::string(MONOMORPH_SOURCE_DIR) + "/data/tinyshakespeare.txt");
  std::string texts;
  while (texts.size() < 12'000'000) texts += text;
  write_bytes(folder / "a.jsonl", nlohmann::json{{"text", texts}}.dump() + "\n");
  write_bytes(folder / "a.txt", texts);
  for (const std::string model : {"unigram.model", "bpe.model"}) {
    const std::string tokenizer = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/tokenizers/" + model;
    for (const std::string input : {"a.jsonl", "a.txt"}) {
      CAPTURE(model, input);
      const auto summary = run_data_json({"pack", folder / input, "--tokenizer", tokenizer, "--eod", "</s>", "--output",
                                          folder / (input + model + ".pbin")});
      CHECK(summary.at("documents") == 1);
#ifndef MONOMORPH_SANITIZE
      CHECK(summary.at("peak_memory_bytes") < 200'000'000);
#endif
    }
    CHECK(read_bytes(folder / ("a.jsonl" + model + ".pbin")) == read_bytes(folder / ("a.txt" + model + ".pbin")));
  }
}

TEST_CASE("long documents take no more memory with many threads, and give the same bytes") {
  constexpr std::size_t document_bytes = 15'900'000, n_documents = 6;
  const auto write_documents = [](const std::string& path, std::string_view part) {
    std::string line = "{\"text\": \"";
    while (line.size() < document_bytes) line += part;
    line += "\"}\n";
    std::ofstream file(path, std::ios::binary);
    for (std::size_t i = 0; i < n_documents; ++i) file << line;
  };
  const TemporaryFolder folder;
  write_documents(folder / "words.jsonl", " the same eight words again and again, and");
  write_documents(folder / "one_word.jsonl", " \u00a0");  // spaces of two kinds in turn: nothing can cut them
  write_documents(folder / "no_merges.jsonl", " \U00013000\U000130f0");  // every byte is a token of its own, nearly
  const auto check_memory = [](const Arguments& arguments) {
    const auto summary = run_data_json(arguments);
#ifndef MONOMORPH_SANITIZE
    CHECK(summary.at("peak_memory_bytes") < 300'000'000);
#endif
  };
  for (const std::string name : {"words", "one_word", "no_merges"}) {
    std::string expected;
    for (const std::string threads : {"1", "4", "16"}) {
      CAPTURE(name, threads);
      const std::string input = folder / (name + ".jsonl"), output = folder / (name + threads);
      check_memory(packing(input, output + ".pbin", {"--threads", threads, "--token-bytes", "4"}));
      check_memory({"index", input, "--output", output + ".idx", "--threads", threads});
      const std::string bytes = read_bytes(output + ".pbin") + read_bytes(output + ".idx");
      if (expected.empty()) expected = bytes;
      CHECK((bytes == expected));  // not to be printed
    }
  }
}
