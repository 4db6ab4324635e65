// What all commands have in common: outputs that exist, --json, progress, exit codes.
#include "commands.hpp"
#include "progress_meter.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

using namespace monomorph::testing;
using monomorph::tools::progress_line;

namespace {

/// What a command writes to standard error if that is a terminal.
std::string run_at_terminal(const Arguments& arguments) {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY);
  REQUIRE(master >= 0);
  REQUIRE(::grantpt(master) == 0);
  REQUIRE(::unlockpt(master) == 0);
  const std::string name = ::ptsname(master);
  const int terminal = ::open(name.c_str(), O_RDWR | O_NOCTTY);
  const Arguments command = data_command(arguments);
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv("TERM", "xterm", 1);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::dup2(terminal, STDERR_FILENO);
    std::vector<char*> pointers;
    for (const std::string& argument : command) pointers.push_back(const_cast<char*>(argument.c_str()));
    pointers.push_back(nullptr);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  ::close(terminal);
  std::string text(1 << 16, '\0');
  std::size_t size = 0;
  for (ssize_t n = 0; (n = ::read(master, text.data() + size, text.size() - size)) > 0;)
    size += static_cast<std::size_t>(n);
  ::close(master);
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  return text.substr(0, size);
}

}  // namespace

TEST_CASE("progress is a share, a speed and the time left, of a pipe, what is done") {
  CHECK(progress_line("pack", {0, 100}, 80) == "pack   0%");
  CHECK(progress_line("pack", {50'000'000, 200'000'000, 0, 2.0}, 80) == "pack  25%  25.0 MB/s  6s left");
  CHECK(progress_line("pack", {150'000'000, 200'000'000, 100'000'000, 2.0}, 80) == "pack  75%  25.0 MB/s  2s left");
  CHECK(progress_line("pack", {200, 200, 0, 1.0}, 80) == "pack 100%  0.0 MB/s");
  CHECK(progress_line("index", {5 << 20, 0, 0, 1.0}, 80) == "index 5.00 MiB  5.2 MB/s");
  CHECK(progress_line("pack", {50'000'000, 200'000'000, 0, 2.0}, 12) == "pack  25%  2");
  CHECK(progress_line("learn", {500, 2000, 0, 2.0, "merges"}, 80) == "learn  25%  250 merges/s  6s left");
}

TEST_CASE("progress is shown at a terminal, erased at the end, and nowhere else") {
  const TemporaryFolder folder;
  const std::string input = data_fixture("modalities/small.jsonl");
  const std::string shown = run_at_terminal({"index", input, "--output", folder / "a.idx"});
  CHECK(contains(shown, "\rindex 100%"));
  CHECK(shown.ends_with("\r\x1b[K"));
  CHECK(run_data({"index", input, "--output", folder / "b.idx"}).err.empty());
}

TEST_CASE("a tokeniser is trained on more files than a process may have open") {
  const TemporaryFolder folder;
  std::string all;
  for (int i = 0; i < 100; ++i) {
    const std::string line = "{\"text\": \"words of file " + std::to_string(i) + "\"}\n";
    write_bytes(folder / ("part_" + std::to_string(i) + ".jsonl"), line);
    all += line;
  }
  write_bytes(folder / "all.jsonl", all);
  const auto trained = [&](const std::string& input, const std::string& output) {
    const ProcessResult result =
        run_process(bash("ulimit -n 40; exec \"$@\"",
                         data_command({"train-tokenizer", input, "--vocab-size", "300", "--output", folder / output})));
    INFO(result.err);
    CHECK(result.exit_code == 0);
    return read_bytes(folder / output);
  };
  CHECK(trained(folder / "part_*.jsonl", "of_parts.json") == trained(folder / "all.jsonl", "of_all.json"));
}

TEST_CASE("every command shows progress at a terminal") {
  const TemporaryFolder folder;
  const std::string lines = data_fixture("modalities/small.jsonl"), set = data_fixture("modalities/small.pbin"),
                    index = data_fixture("modalities/small.idx"), tokenizer = data_fixture("gpt2_tokenizer.json"),
                    chats = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/";
  for (const Arguments& arguments :
       std::vector<Arguments>{{"train-tokenizer", lines, "--vocab-size", "300", "--output", folder / "t.json"},
                              {"index", lines, "--output", folder / "a.idx"},
                              {"pack", lines, "--tokenizer", tokenizer, "--output", folder / "a.pbin"},
                              {"chat", chats + "set.jsonl", "--tokenizer", chats + "tokenizer.json", "--template",
                               "chatml", "--sequence-length", "48", "--output", folder / "chat.pbin"},
                              {"merge", set, set, "--output", folder / "m.pbin"},
                              {"shuffle", set, "--output", folder / "s.pbin"},
                              {"chunk", set, "--chunk", "1/2", "--output", folder / "c.pbin"},
                              {"filter", set, "--min-tokens", "2", "--output", folder / "f.pbin"},
                              {"split", set, "--documents", "2", "--train", folder / "tr.pbin", "--held-out",
                               folder / "he.pbin"},
                              {"convert", set, "--token-bytes", "4", "--output", folder / "w.pbin"},
                              {"inspect", set},
                              {"inspect", set, "--document", "1"},
                              {"inspect", index},
                              {"inspect", index, "--document", "1"},
                              {"inspect", lines},
                              {"inspect", lines, "--document", "1"},
                              {"verify", set},
                              {"verify", index}}) {
    CAPTURE(arguments);
    const std::string shown = run_at_terminal(arguments);
    CHECK(contains(shown, "\r" + arguments[0] + " "));
    CHECK(shown.ends_with("\r\x1b[K"));
  }
}

TEST_CASE("the option --json prints one object with the results") {
  const TemporaryFolder folder;
  const std::string input = data_fixture("modalities/small.jsonl");
  const auto index = run_data_json({"index", input, "--output", folder / "a.idx"});
  CHECK(index.at("command") == "index");
  CHECK(index.at("output") == folder / "a.idx");
  CHECK(index.at("documents") == 25);
  CHECK(index.at("skipped") == 0);
  CHECK(index.at("input_bytes") == std::filesystem::file_size(input));
  CHECK(index.at("seconds") > 0);
  CHECK(index.at("peak_memory_bytes") > 0);
  const auto pack =
      run_data_json({"pack", input, "--tokenizer", data_fixture("gpt2_tokenizer.json"), "--output", folder / "a.pbin"});
  CHECK(pack.at("documents") == 25);
  CHECK(pack.at("bytes_per_token") == 2);
  CHECK(pack.at("resumed_bytes") == 0);
}

TEST_CASE("an output that exists is replaced only with --force, and a report, too") {
  const TemporaryFolder folder;
  const std::string input = data_fixture("modalities/small.jsonl"), output = folder / "a.idx";
  write_bytes(output, "mine");
  check_refused(run_data({"index", input, "--output", output}), 2, {"[DATA-01]", "a.idx", "--force"});
  CHECK(read_bytes(output) == "mine");
  CHECK(run_data({"index", input, "--output", output, "--force"}).exit_code == 0);
  CHECK(read_bytes(output) == read_bytes(data_fixture("modalities/small.idx")));
  std::filesystem::remove(output);
  write_bytes(folder / "a.idx.skipped.jsonl", "mine");
  check_refused(run_data({"index", input, "--output", output, "--on-error", "skip"}), 2, {"[DATA-01]", "skipped"});
  CHECK(run_data({"index", input, "--output", output, "--on-error", "skip", "--report", folder / "r"}).exit_code == 0);
  CHECK(read_bytes(folder / "a.idx.skipped.jsonl") == "mine");
  CHECK(read_bytes(folder / "r").empty());
}

TEST_CASE("no output replaces an input or another output, whatever way its path is written") {
  const TemporaryFolder folder;
  const std::string text = read_bytes(data_fixture("modalities/small.jsonl")), lines = folder / "a.jsonl",
                    set = folder / "a.pbin", tokenizer = data_fixture("gpt2_tokenizer.json"),
                    chats = std::string(MONOMORPH_SOURCE_DIR) + "/tests/fixtures/chat/";
  write_bytes(lines, text);
  write_bytes(set, read_bytes(data_fixture("modalities/small.pbin")));
  std::filesystem::create_symlink(lines, folder / "link");
  for (Arguments arguments :
       std::vector<Arguments>{{"index", lines, "--output", lines},
                              {"index", lines, "--output", folder / "link"},
                              {"index", lines, "--output", folder / "./a.jsonl"},
                              {"index", lines, "--output", folder / "n", "--on-error", "skip", "--report", lines},
                              {"index", lines, "--output", folder / "n", "--on-error", "skip", "--report",
                               folder / "n"},
                              {"pack", lines, "--tokenizer", tokenizer, "--output", lines},
                              {"pack", lines, "--tokenizer", tokenizer, "--output", tokenizer},
                              {"pack", lines, "--tokenizer", tokenizer, "--output", folder / "n", "--on-error", "skip",
                               "--report", folder / "n", "--resume"},
                              {"chat", chats + "set.jsonl", "--tokenizer", chats + "tokenizer.json", "--template",
                               "chatml", "--sequence-length", "48", "--output", folder / "n.pbin", "--on-error", "skip",
                               "--report", folder / "n.mask"},
                              {"train-tokenizer", lines, "--vocab-size", "300", "--output", lines},
                              {"merge", set, data_fixture("modalities/small.pbin"), "--output", set},
                              {"shuffle", set, "--output", set},
                              {"chunk", set, "--chunk", "1/2", "--output", set},
                              {"filter", set, "--min-tokens", "2", "--output", set},
                              {"filter", set, "--where", "/text != 1", "--records", lines, "--output", lines},
                              {"convert", set, "--token-bytes", "4", "--output", set}}) {
    CAPTURE(arguments);
    arguments.push_back("--force");
    check_refused(run_data(arguments), 2, {"[DATA-10]", "name"});
    CHECK(read_bytes(lines) == text);
    CHECK(n_entries(folder.path()) == 3);
  }
  const Arguments to_nowhere{"index",      lines,  "--output", "/dev/null", "--force",
                             "--on-error", "skip", "--report", "/dev/null"};
  CHECK(run_data(to_nowhere).exit_code == 0);
}

TEST_CASE("wrong arguments are refused in one line") {
  const TemporaryFolder folder;
  const std::string input = data_fixture("modalities/small.jsonl");
  check_refused(run_data({}), 2, {"[DATA-10]", "see monomorph-data --help"});
  check_refused(run_data({"indexx"}), 2, {"[DATA-10]", "indexx"});
  check_refused(run_data({"index", input}), 2, {"[DATA-10]", "--output", "see monomorph-data index --help"});
  for (const std::string threads : {"0", "-1", "2000", "two"})
    check_refused(run_data({"index", input, "--output", folder / "a", "--threads", threads}), 2, {"[DATA-10]"});
  check_refused(run_data({"index", input, "--output", folder / "a", "--on-error", "ignore"}), 2, {"[DATA-10]"});
  check_refused(run_data({"index", folder / "none", "--output", folder / "a"}), 1, {"[FILE-01]", "none"});
  check_refused(run_data({"index", folder.path(), "--output", folder / "a"}), 1, {"[FILE-04]"});
  CHECK(n_entries(folder.path()) == 0);
}

TEST_CASE("a number of the command line is finite and within its bounds, which the refusal has as people write them") {
  struct Number {
    Arguments command;
    std::string option, expected;
  };
  const std::string any_id = "a whole number from 0 to 4,294,967,295",
                    any = "a whole number from 0 to 9,223,372,036,854,775,807",
                    any_of_64_bits = "a whole number from 0 to 18,446,744,073,709,551,615";
  const Arguments output{"nowhere.pbin", "--output", "out.pbin"},
      split{"split", "nowhere.pbin", "--train", "a.pbin", "--held-out", "b.pbin"};
  const auto writing = [&](const std::string& command, const Arguments& more = {}) {
    Arguments arguments{command};
    arguments.insert(arguments.end(), output.begin(), output.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  for (const auto& [command, option, expected] : std::vector<Number>{
           {writing("index"), "--threads", "a whole number from 1 to 1,024"},
           {writing("shuffle"), "--seed", any_of_64_bits},
           {writing("shuffle"), "--memory", "a whole number from 1 to 1,073,741,824"},
           {writing("chunk"), "--chunks", "a whole number from 1 to 99,999"},
           {writing("filter"), "--min-tokens", any},
           {writing("filter"), "--max-tokens", any},
           {writing("convert"), "--token-bytes", "1, 2 or 4"},
           {writing("convert"), "--eod-id", any_id},
           {writing("convert"), "--bos-id", any_id},
           {writing("pack", {"--tokenizer", "t.json"}), "--token-bytes", "1, 2 or 4"},
           {writing("chat", {"--tokenizer", "t.json", "--template", "chatml"}), "--sequence-length", any},
           {writing("train-tokenizer"), "--vocab-size", "a whole number from 0 to 2,147,483,647"},
           {writing("train-tokenizer"), "--min-frequency", any},
           {split, "--fraction", "a number from 0 to 1"},
           {split, "--documents", any},
           {split, "--bytes", any_of_64_bits},
           {split, "--seed", any_of_64_bits},
           {{"inspect", "nowhere.pbin"}, "--document", any},
           {{"verify", "nowhere.pbin"}, "--vocab-size", "a whole number from 1 to 9,223,372,036,854,775,807"},
           {{"verify", "nowhere.pbin"}, "--eod-id", any}}) {
    for (const std::string value : {"nan", "-inf", "-1", "1e400", "99999999999999999999", "0x10", " 1", "", "some"}) {
      CAPTURE(command, option, value);
      Arguments arguments = command;
      arguments.insert(arguments.end(), {option, value});
      check_refused(run_data(arguments), 2,
                    {"[DATA-10] " + option + " must be " + expected + ", not \"" + value + "\"",
                     "see monomorph-data " + command[0] + " --help"});
    }
  }
  check_refused(run_data({"chunk", "nowhere.pbin", "--output", "out.pbin", "--chunk", "99999999999999999999/3"}), 2,
                {"[DATA-42]", "99999999999999999999"});
}

TEST_CASE("the option --help says what may be given, and nothing of the program's inside") {
  for (const std::string command : {"train-tokenizer", "index", "pack", "chat", "merge", "shuffle", "chunk", "filter",
                                    "split", "convert", "inspect", "verify"}) {
    const ProcessResult help = run_data({command, "--help"});
    CAPTURE(help.out);
    CHECK(help.exit_code == 0);
    for (const std::string internal : {"INT", "FLOAT", "ENUM", "->", " in [", " in {"})
      CHECK_FALSE(contains(help.out, internal));
  }
  CHECK(contains(run_data({"pack", "--help"}).out, "--on-error stop|skip=stop"));
  for (const std::string value : {"ignore", "0", "1", ""})
    check_refused(run_data({"index", "nowhere.jsonl", "--output", "out.idx", "--on-error", value}), 2,
                  {"[DATA-10] --on-error must be stop or skip, not \"" + value + "\""});
}

TEST_CASE("results that cannot be written to standard output are a failure") {
  const TemporaryFolder folder;
  const Arguments command =
      data_command({"index", data_fixture("modalities/small.jsonl"), "--output", folder / "a.idx"});
  check_refused(run_process(bash("\"$@\" > /dev/full", command)), 1, {"[FILE-02]", "standard output"});
}
