// Runs of pack that did not end: what they leave, and how the next run goes on from it.
#include "data/prepare/pack_journal.hpp"
#include "unit/data/gpt2_tokenizer.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/data/prepare/pack.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <fstream>
#include <random>

using namespace monomorph::data;

namespace {

std::string json_lines(std::size_t n_bytes) {
  std::mt19937 random(11);
  std::string lines;
  while (lines.size() < n_bytes) {
    if (random() % 50 == 0) lines += "not JSON\n";
    lines += "{\"text\": \"";
    for (std::size_t n = random() % 200; n > 0; --n) lines += " word" + std::to_string(random() % 50);
    lines += "\"}\n";
  }
  return lines;
}

std::string plain_text(std::size_t n_bytes) {
  std::mt19937 random(12);
  const char* const pieces[] = {" the", "  ", "\n\n", "é", "日本", "\xff", "'re", "12", "!", "\xe2\x82"};
  std::string text;
  while (text.size() < n_bytes) text += pieces[random() % std::size(pieces)];
  return text;
}

PackSettings settings(Unfinished unfinished, int n_threads = 1) {
  return {.on_error = OnError::skip, .n_threads = n_threads, .unfinished = unfinished, .tokenizer_fingerprint = "gpt2"};
}

/// Packs in a child process that dies, without any handler, when so much of the input is done.
void pack_until(std::uint64_t n_bytes, const std::string& input, const std::string& output, const PackSettings& from) {
  const pid_t child = ::fork();
  if (child == 0) {
    PackSettings mine = from;
    mine.progress = [&](std::uint64_t done, std::uint64_t) {
      if (done >= n_bytes) ::kill(::getpid(), SIGKILL);
    };
    pack(input, gpt2(), output, mine);
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WIFSIGNALED(status));
}

void cut_to(const std::string& path, std::uint64_t n_bytes) { std::filesystem::resize_file(path, n_bytes); }

void flip_byte(const std::string& path, std::uint64_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const char byte = static_cast<char>(file.get() ^ 1);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(byte);
}

}  // namespace

TEST_CASE("A killed run is named, and resumed to the same bytes") {
  gpt2();
  for (const std::string name : {"a.jsonl", "a.txt"}) {
    TemporaryFolder folder;
    const std::string input = folder.write(name, name == "a.txt" ? plain_text(6 << 20) : json_lines(4 << 20));
    const std::uint64_t size = std::filesystem::file_size(input);
    const std::string output = folder.file("a.pbin"), partial = output + ".partial", journal = partial + ".journal";
    const PackSummary whole = pack(input, gpt2(), folder.file("whole.pbin"), settings(Unfinished::refuse));
    for (const double share : {0.1, 0.5, 0.9, 1.0}) {
      for (const Unfinished first : {Unfinished::refuse, Unfinished::resume}) {
        const auto killed_at = static_cast<std::uint64_t>(share * static_cast<double>(size)) - (8u << 10);
        pack_until(killed_at, input, output, settings(first, 2));
        CHECK_FALSE(std::filesystem::exists(output));
        const std::string error = error_of([&] { pack(input, gpt2(), output, settings(Unfinished::refuse)); });
        CHECK(contains(error, "[DATA-22]"));
        CHECK(contains(error, "a.pbin.partial"));
        CHECK(contains(error, "--resume"));
        const PackSummary resumed = pack(input, gpt2(), output, settings(Unfinished::resume, 2));
        CHECK(resumed.resumed_bytes > 0);
        CHECK(resumed.resumed_bytes + (2u << 20) >= killed_at);
        CHECK(resumed.n_documents == whole.n_documents);
        CHECK(resumed.n_skipped == whole.n_skipped);
        CHECK(resumed.n_tokens == whole.n_tokens);
        CHECK(bytes_at(output) == bytes_at(folder.file("whole.pbin")));
        CHECK(bytes_at(output + ".skipped.jsonl") == bytes_at(folder.file("whole.pbin.skipped.jsonl")));
        CHECK_FALSE(std::filesystem::exists(partial));
        CHECK_FALSE(std::filesystem::exists(journal));
        std::filesystem::remove(output);
      }
    }
  }
}

TEST_CASE("A run is resumed from what is whole, however its files were damaged") {
  gpt2();
  TemporaryFolder folder;
  const std::string input = folder.write("a.jsonl", json_lines(3 << 20));
  const std::string output = folder.file("a.pbin"), partial = output + ".partial", journal = partial + ".journal";
  pack(input, gpt2(), folder.file("whole.pbin"), settings(Unfinished::refuse));
  std::mt19937 random(8);
  for (int round = 0; round < 12; ++round) {
    CAPTURE(round);
    pack_until(2 << 20, input, output, settings(Unfinished::refuse));
    const std::uint64_t n_tokens = std::filesystem::file_size(partial), n_journal = std::filesystem::file_size(journal);
    const std::uint64_t identity_bytes = 600;
    if (round % 4 == 0) cut_to(partial, random() % n_tokens);
    if (round % 4 == 1) flip_byte(partial, 12 + random() % (n_tokens - 12));
    if (round % 4 == 2) cut_to(journal, identity_bytes + random() % (n_journal - identity_bytes));
    if (round % 4 == 3) flip_byte(journal, identity_bytes + random() % (n_journal - identity_bytes));
    pack(input, gpt2(), output, settings(Unfinished::resume));
    CHECK(bytes_at(output) == bytes_at(folder.file("whole.pbin")));
    std::filesystem::remove(output);
  }
  pack_until(2 << 20, input, output, settings(Unfinished::refuse));
  std::filesystem::remove(partial);
  CHECK(pack(input, gpt2(), output, settings(Unfinished::resume)).resumed_bytes == 0);
  CHECK(bytes_at(output) == bytes_at(folder.file("whole.pbin")));
}

TEST_CASE("A run is not resumed with anything else than it was begun with") {
  gpt2();
  TemporaryFolder folder;
  const std::string lines = json_lines(1 << 20);
  const std::string input = folder.write("a.jsonl", lines), output = folder.file("a.pbin");
  pack_until(1 << 19, input, output, settings(Unfinished::refuse));
  const auto check = [&](const char* part, const std::function<void(PackSettings&)>& change) {
    PackSettings changed = settings(Unfinished::resume);
    change(changed);
    const std::string error = error_of([&] { pack(input, gpt2(), output, changed); });
    INFO(error);
    CHECK(contains(error, "[DATA-24]"));
    CHECK(contains(error, part));
    CHECK(std::filesystem::exists(output + ".partial"));
  };
  check("the tokenizer", [](PackSettings& s) { s.tokenizer_fingerprint = "other"; });
  check("--eod", [](PackSettings& s) { s.end_of_document = "!"; });
  check("--field", [](PackSettings& s) { s.field = "/title"; });
  const auto time = std::filesystem::last_write_time(input);
  std::filesystem::last_write_time(input, time + std::chrono::seconds(1));
  check("the time of the input", [](PackSettings&) {});
  folder.write("a.jsonl", lines + "{\"text\": \"more\"}\n");
  check("the size of the input", [](PackSettings&) {});
  std::string other = lines;
  other[11] ^= 1;
  folder.write("a.jsonl", other);
  std::filesystem::last_write_time(input, time);
  check("hash", [](PackSettings&) {});
  cut_to(output + ".partial.journal", 20);
  check("journal is damaged", [](PackSettings&) {});
  std::filesystem::remove(output + ".partial.journal");
  for (const Unfinished unfinished : {Unfinished::refuse, Unfinished::resume}) {
    const std::string error = error_of([&] { pack(input, gpt2(), output, settings(unfinished)); });
    CHECK(contains(error, "[DATA-22]"));
    CHECK(contains(error, "lost its journal"));
  }
  CHECK(pack(input, gpt2(), output, settings(Unfinished::discard)).resumed_bytes == 0);
  CHECK(folder.n_entries() == 3);  // input, output, report
}

TEST_CASE("Two processes do not write one output") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.jsonl", "{\"text\": \"x\"}\n"), output = folder.file("a.pbin");
  const PackJournal other(output + ".partial.journal", PackJournal::Mode::create_new);
  for (const Unfinished unfinished : {Unfinished::refuse, Unfinished::resume, Unfinished::discard})
    CHECK(contains(error_of([&] { pack(input, gpt2(), output, settings(unfinished)); }), "[DATA-23]"));
  CHECK(folder.n_entries() == 2);
}

TEST_CASE("A failed run leaves something only if it is to be resumed") {
  TemporaryFolder folder;
  std::string lines = json_lines(1 << 20);
  const std::string input = folder.write("a.jsonl", lines + "no JSON\n"), output = folder.file("a.pbin");
  PackSettings stopping = settings(Unfinished::refuse);
  stopping.on_error = OnError::stop;
  CHECK(contains(error_of([&] { pack(input, gpt2(), output, stopping); }), "[DATA-02]"));
  CHECK(folder.n_entries() == 1);
  stopping.unfinished = Unfinished::resume;  // the first line that is no JSON comes within the first block
  CHECK(contains(error_of([&] { pack(input, gpt2(), output, stopping); }), "[DATA-02]"));
  CHECK(folder.n_entries() == 1);
  while (const auto at = lines.find("not JSON\n")) {
    if (at == std::string::npos) break;
    lines.erase(at, 9);
  }
  folder.write("a.jsonl", lines + "no JSON\n");
  CHECK(contains(error_of([&] { pack(input, gpt2(), output, stopping); }), "[DATA-02]"));
  CHECK(folder.n_entries() == 3);
  stopping.on_error = OnError::skip;
  const PackSummary summary = pack(input, gpt2(), output, stopping);
  CHECK(summary.resumed_bytes > 0);
  CHECK(summary.n_skipped == 1);
  pack(input, gpt2(), folder.file("whole.pbin"), settings(Unfinished::refuse));
  CHECK(bytes_at(output) == bytes_at(folder.file("whole.pbin")));
}

TEST_CASE("What cannot be resumed or replaced is said before anything is written") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.jsonl", "{\"text\": \"x\"}\n");
  CHECK(contains(error_of([&] { pack(input, gpt2(), "/dev/null"); }), "[DATA-25]"));
  CHECK(contains(error_of([&] { pack(input, gpt2(), folder.path()); }), "[FILE-04]"));
  CHECK(contains(error_of([&] { pack(input, gpt2(), folder.file("none/a.pbin")); }), "[FILE-01]"));
  const std::string pipe = folder.file("pipe.jsonl");
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const int writer = ::open(pipe.c_str(), O_RDWR);
  CHECK(contains(error_of([&] { pack(pipe, gpt2(), folder.file("a.pbin"), settings(Unfinished::resume)); }),
                 "[DATA-25]"));
  ::close(writer);
  CHECK(folder.n_entries() == 2);
}
