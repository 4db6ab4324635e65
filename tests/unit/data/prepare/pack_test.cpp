#include "unit/data/gpt2_tokenizer.hpp"

#include <monomorph/data/formats/packed_file.hpp>
#include <monomorph/data/prepare/index_json_lines.hpp>
#include <monomorph/data/prepare/pack.hpp>
#include <monomorph/data/text/byte_level.hpp>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

using namespace monomorph::data;

namespace {

std::vector<std::int32_t> tokens_of(const std::string& path) {
  const PackedFile file(path);
  std::vector<std::int32_t> ids(static_cast<std::size_t>(file.n_tokens()));
  file.read(0, ids);
  return ids;
}

}  // namespace

TEST_CASE("Index and packed file are, byte for byte, those of Modalities") {
  TemporaryFolder folder;
  for (const auto& [name, n_documents] :
       std::vector<std::pair<std::string, std::int64_t>>{{"small", 25}, {"small_nonl", 25}, {"edge", 12}, {"one", 1}}) {
    CAPTURE(name);
    const std::string input = fixture("modalities/" + name + ".jsonl");
    CHECK(index_json_lines(input, folder.file("out.idx")).n_documents == n_documents);
    CHECK(bytes_at(folder.file("out.idx")) == bytes_at(fixture("modalities/" + name + ".idx")));
    CHECK(pack(input, gpt2(), folder.file("out.pbin")).n_documents == n_documents);
    CHECK(bytes_at(folder.file("out.pbin")) == bytes_at(fixture("modalities/" + name + ".pbin")));
  }
}

TEST_CASE("What the tokenizer puts around a text is packed, as Modalities does, and the end of document not repeated") {
  TemporaryFolder folder;
  TokenizerDefinition definition = read_tokenizer_definition(fixture("gpt2_tokenizer.json"));
  definition.frame.before = {50256};
  const std::string input = fixture("modalities/framed.jsonl");
  const PackSummary summary = pack(input, Tokenizer(definition), folder.file("out.pbin"));
  CHECK(bytes_at(folder.file("out.pbin")) == bytes_at(fixture("modalities/framed.pbin")));
  CHECK(summary.n_documents == 6);
  CHECK(summary.n_empty_documents == 1);
  definition.frame = {.before = {1}, .after = {2}};
  const Tokenizer framing(definition);
  pack(folder.write("a.jsonl", "{\"text\": \"a\"}\n{\"text\": \"\"}\n"), framing, folder.file("a.pbin"));
  CHECK(tokens_of(folder.file("a.pbin")) == std::vector<std::int32_t>{1, 64, 2, 50256, 1, 2, 50256});
  pack(folder.write("a.txt", "a"), framing, folder.file("a.pbin"));
  CHECK(tokens_of(folder.file("a.pbin")) == std::vector<std::int32_t>{1, 64, 2, 50256});
  pack(folder.file("a.txt"), framing, folder.file("a.pbin"), {.end_of_document = "#"});
  CHECK(tokens_of(folder.file("a.pbin")) == std::vector<std::int32_t>{1, 64, 2});  // "#" has the id 2
}

TEST_CASE("Ids that do not fit the width are refused before anything is written") {
  TemporaryFolder folder;
  TokenizerDefinition definition;
  for (int byte = 0; byte < 256; ++byte)
    definition.vocabulary.push_back(byte_level_alphabet()[static_cast<std::size_t>(byte)]);
  definition.added_tokens.push_back({.content = "<end>", .id = 256, .special = true});
  const Tokenizer tokenizer(definition);
  const std::string input = folder.write("a.jsonl", "{\"text\": \"a\"}\n");
  const std::string error =
      error_of([&] { pack(input, tokenizer, folder.file("a.pbin"), {.end_of_document = "<end>"}); });
  INFO(error);
  CHECK(contains(error, "[DATA-26]"));
  CHECK(contains(error, "256"));
  CHECK(contains(error, "--token-bytes 2"));
  CHECK(folder.n_entries() == 1);
  for (const std::uint32_t width : {2u, 4u}) {
    const PackSummary summary =
        pack(input, tokenizer, folder.file("a.pbin"), {.end_of_document = "<end>", .bytes_per_token = width});
    CHECK(summary.bytes_per_token == width);
    CHECK(tokens_of(folder.file("a.pbin")) == std::vector<std::int32_t>{'a', 256});
  }
  CHECK(contains(error_of([&] { pack(input, gpt2(), folder.file("b.pbin"), {.bytes_per_token = 1}); }), "[DATA-26]"));
  CHECK(pack(input, gpt2(), folder.file("b.pbin"), {.bytes_per_token = 4}).bytes_per_token == 4);
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
  check("a.csv", "x", {"[DATA-40]"});
  const std::string input = folder.write("a.jsonl", good + "\n");
  CHECK(contains(error_of([&] { index_json_lines(input, folder.file("out.idx")); }), "line 2"));
  CHECK(contains(error_of([&] { pack(input, gpt2(), folder.file("o"), {.end_of_document = "<s>"}); }), "[TOK-06]"));
  CHECK(contains(error_of([&] { pack(input, gpt2(), folder.file("o"), {.field = "text"}); }), "[DATA-10]"));
  CHECK(contains(error_of([&] { pack(folder.file("no.txt"), gpt2(), folder.file("o")); }), "[FILE-01]"));
  CHECK(folder.n_entries() == 1);
}

TEST_CASE("What is packed does not depend on the number of threads") {
  TemporaryFolder folder;
  std::mt19937 random(5);
  std::string lines;
  for (int i = 0; i < 6000; ++i) {
    std::string text;
    for (std::size_t n = random() % 300; n > 0; --n)
      text += random() % 9 == 0 ? "\\n" : " word" + std::to_string(random() % 999);
    lines += "{\"text\": \"" + text + "\"}\n";
  }
  lines += "{\"text\": \"" + std::string(3 << 20, 'x') + " end\"}\n{\"text\": \"\"}";
  const std::string input = folder.write("a.jsonl", lines);
  const PackSummary one = pack(input, gpt2(), folder.file("1.pbin"));
  CHECK(one.n_documents == 6002);
  CHECK(one.input_bytes == lines.size());
  for (const int n_threads : {2, 5}) {
    CHECK(pack(input, gpt2(), folder.file("n.pbin"), {.n_threads = n_threads}).n_tokens == one.n_tokens);
    CHECK(bytes_at(folder.file("n.pbin")) == bytes_at(folder.file("1.pbin")));
  }
}

TEST_CASE("Records without text can be skipped") {
  TemporaryFolder folder;
  const std::string good = "{\"text\": \"x\"}\n";
  const std::string input = folder.write("a.jsonl", good + "{\"txt\": 1}\n{\"text\": 1}\n\n{\n" + good);
  for (const int n_threads : {1, 3}) {
    const PackSummary summary =
        pack(input, gpt2(), folder.file("a.pbin"), {.on_error = OnError::skip, .n_threads = n_threads});
    CHECK(summary.n_documents == 2);
    CHECK(summary.n_skipped == 4);
    CHECK(tokens_of(folder.file("a.pbin")) == std::vector<std::int32_t>{87, 50256, 87, 50256});
    const std::string report = bytes_at(folder.file("a.pbin.skipped.jsonl"));
    CHECK(std::count(report.begin(), report.end(), '\n') == 4);
    CHECK(contains(report, "{\"line\":2,\"offset\":14,\"length\":10,\"error\":\"DATA-03\""));
    CHECK(contains(report, "{\"line\":5,\"offset\":38,\"length\":1,\"error\":\"DATA-02\""));
  }
  std::filesystem::remove(input);
  const std::string bad = folder.write("b.jsonl", "{}\n[]\n");
  const std::string error = error_of([&] { pack(bad, gpt2(), folder.file("b.pbin"), {.on_error = OnError::skip}); });
  CHECK(contains(error, "[DATA-21]"));
  CHECK(contains(error, "of line 1: the record has no field \"/text\""));
  CHECK(folder.n_entries() == 3);
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
