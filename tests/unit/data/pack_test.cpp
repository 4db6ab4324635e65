#include "data_test_support.hpp"

#include <monomorph/data/index_json_lines.hpp>
#include <monomorph/data/pack.hpp>
#include <monomorph/data/packed_file.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <random>

using namespace monomorph::data;

namespace {

const Tokenizer& gpt2() {
  static const Tokenizer tokenizer(read_tokenizer_definition(fixture("gpt2_tokenizer.json")));
  return tokenizer;
}

std::string bytes_at(const std::string& path) { return monomorph::read_text_file(path); }

std::vector<std::int32_t> tokens_of(const std::string& path) {
  const PackedFile file(path);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(file.n_tokens()));
  file.read(0, ids);
  return ids;
}

}  // namespace

TEST_CASE("Index and packed file are, byte for byte, those of Modalities") {
  TemporaryFolder folder;
  for (const std::string name : {"small", "small_nonl"}) {
    const std::string input = fixture("modalities/" + name + ".jsonl");
    CHECK(index_json_lines(input, folder.file("out.idx")).n_documents == 25);
    CHECK(bytes_at(folder.file("out.idx")) == bytes_at(fixture("modalities/" + name + ".idx")));
    CHECK(pack(input, gpt2(), folder.file("out.pbin")).n_documents == 25);
    CHECK(bytes_at(folder.file("out.pbin")) == bytes_at(fixture("modalities/" + name + ".pbin")));
  }
}

TEST_CASE("Empty documents are kept and counted: fields are found by pointer") {
  TemporaryFolder folder;
  const auto input =
      folder.write("a.jsonl", "{\"m\": {\"t\": \"a\"}}\n{\"m\": {\"t\": \"\"}}\n{\"m\": {\"t\": \"b\"}}\r\n");
  const PackSummary summary = pack(input, gpt2(), folder.file("a.pbin"), {.field = "/m/t"});
  CHECK(summary.n_documents == 3);
  CHECK(summary.n_empty_documents == 1);
  CHECK(tokens_of(folder.file("a.pbin")) == std::vector<std::int32_t>{64, 50256, 50256, 65, 50256});
  CHECK(PackedFile(folder.file("a.pbin")).documents() == std::vector<DocumentSpan>{{0, 4}, {4, 2}, {6, 4}});
}

TEST_CASE("A text larger than the pieces it is read in is one document with the ids of the whole") {
  TemporaryFolder folder;
  std::mt19937 random(4);
  std::string text(1 << 20, ' ');  // one run of white space longer than a piece
  while (text.size() < (5 << 20)) {
    const char* pieces[] = {" the", "  ", "\n\n", "é", "日本", "\xff", "'re", "<|endoftext|>", "12", "!"};
    text += pieces[random() % 10];
  }
  const PackSummary summary = pack(folder.write("a.txt", text), gpt2(), folder.file("a.pbin"));
  CHECK(summary.n_documents == 1);
  auto expected = gpt2().encode(text);
  if (expected.back() != 50256) expected.push_back(50256);
  CHECK(tokens_of(folder.file("a.pbin")) == expected);
}

TEST_CASE("Broken input is an error that names the line, and leaves nothing behind") {
  TemporaryFolder folder;
  const auto check = [&](const std::string& name, const std::string& bytes, std::initializer_list<const char*> parts) {
    const std::string input = folder.write(name, bytes);
    const std::string error = error_of([&] { pack(input, gpt2(), folder.file("out.pbin")); });
    INFO(error);
    for (const char* part : parts) CHECK(contains(error, part));
    std::filesystem::remove(input);
    CHECK(folder.n_entries() == 0);
  };
  const std::string good = "{\"text\": \"x\"}\n";
  check("a.jsonl", good + "{\"txt\": \"x\"}\n", {"[DATA-03]", "line 2", "/text"});
  check("a.jsonl", good + good + "{\"text\": 5}\n", {"[DATA-03]", "line 3", "number"});
  check("a.jsonl", good + "\n" + good, {"[DATA-02]", "line 2", "byte 14", "blank"});
  check("a.jsonl", good + "{\"text\": \"x\"", {"[DATA-02]", "line 2"});
  check("a.jsonl", "{\"text\": \"\xff\"}\n", {"[DATA-02]", "line 1"});
  check("a.jsonl", "{\"text\": \"\\ud83d\"}\n", {"[DATA-02]", "line 1"});
  check("a.jsonl", "[1]\n", {"[DATA-03]", "line 1"});
  check("a.jsonl", std::string(100000, '[') + "\n", {"[DATA-02]", "line 1"});
  check("a.jsonl", "", {"[DATA-04]"});
  check("a.txt", "", {"[DATA-04]"});
  check("a.csv", "x", {"[DATA-10]"});
  const std::string input = folder.write("a.jsonl", good + "\n");
  CHECK(contains(error_of([&] { index_json_lines(input, folder.file("out.idx")); }), "line 2"));
  CHECK(contains(error_of([&] { pack(input, gpt2(), folder.file("o"), {.end_of_document = "<s>"}); }), "[TOK-06]"));
  CHECK(contains(error_of([&] { pack(input, gpt2(), folder.file("o"), {.field = "text"}); }), "[DATA-10]"));
  CHECK(contains(error_of([&] { pack(folder.file("no.txt"), gpt2(), folder.file("o")); }), "[FILE-01]"));
  CHECK(folder.n_entries() == 1);
}

TEST_CASE("A file that may grow no further is said to be the reason, and nothing is left") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.txt", std::string(4 << 20, '!') + "end");
  gpt2();
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{64 << 10, 64 << 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    try {
      pack(input, gpt2(), folder.file("a.pbin"));
    } catch (const monomorph::Error& error) {
      ::_exit(contains(error.what(), "[FILE-0") ? 42 : 1);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(folder.n_entries() == 1);
}
