#include "data_test_support.hpp"

#include <monomorph/data/bpe_trainer.hpp>

#include <sstream>

using namespace monomorph::data;

namespace {

std::vector<std::string> merges_of(const TokenizerDefinition& definition) {
  std::vector<std::string> result;
  for (const TokenPair pair : definition.merges) {
    result.push_back(definition.vocabulary[static_cast<std::size_t>(pair.left)] + " " +
                     definition.vocabulary[static_cast<std::size_t>(pair.right)]);
  }
  return result;
}

}  // namespace

TEST_CASE("The merges of a real text equal those of the tokenizers package") {
  std::vector<std::string> reference;
  std::istringstream lines(monomorph::read_text_file(fixture("tinyshakespeare_merges_4096.txt")));
  for (std::string line; std::getline(lines, line);) reference.push_back(line);
  REQUIRE(reference.size() == 4096 - 257);
  for (const int vocab_size : {257, 512, 1024, 4096}) {
    const auto definition =
        train_tokenizer({{std::string(MONOMORPH_SOURCE_DIR) + "/data/tinyshakespeare.txt"}}, {vocab_size});
    reference.resize(4096 - 257);
    auto expected = reference;
    expected.resize(static_cast<std::size_t>(vocab_size - 257));
    CHECK(merges_of(definition) == expected);
    CHECK(definition.vocabulary.size() == static_cast<std::size_t>(vocab_size));
    CHECK(definition.vocabulary[0] == "<|endoftext|>");
    CHECK(definition.vocabulary[1] == "!");
  }
}

TEST_CASE("Of pairs that are as frequent, the one with the smaller ids is merged first: rare ones stay apart") {
  BpeTrainer trainer({300, {}, 2});
  trainer.feed("cd ab");  // words "cd" and " ab"
  trainer.feed("cd ab");
  trainer.feed("xy");
  // Each of (c,d), (Ġ,a), (a,b) appears twice; ids follow the byte-level alphabet, where Ġ (U+0120) is after the
  // letters.
  CHECK(merges_of(trainer.train()) == std::vector<std::string>{"a b", "c d", "Ġ ab"});
}

TEST_CASE("A trained tokenizer takes every text apart and puts it together") {
  TemporaryFolder folder;
  const auto text = folder.write("text.txt", "to be or not to be\nthat is the question\n\nto be\xff");
  const Tokenizer tokenizer(train_tokenizer({{text}}, {280, {"<|endoftext|>", "<pad>"}}));
  CHECK(tokenizer.find("<pad>") == 1);
  CHECK(tokenizer.encode("<pad>to").front() == 1);
  CHECK(tokenizer.decode(tokenizer.encode("not 日本\n to be")) == "not 日本\n to be");
}

TEST_CASE("Training settings that cannot be are refused") {
  const auto error = [](BpeTrainerSettings settings) { return error_of([&] { BpeTrainer unused(settings); }); };
  CHECK(contains(error({256}), "--vocab-size 257"));
  CHECK(contains(error({-5}), "[TOK-05]"));
  CHECK(contains(error({2000000000}), "[TOK-05]"));
  CHECK(contains(error({300, {""}}), "[TOK-05]"));
  CHECK(contains(error({300, {"a", "a"}}), "[TOK-05]"));
  TemporaryFolder folder;
  CHECK(contains(error_of([&] { train_tokenizer({{folder.write("empty.txt", "")}}, {300}); }), "[DATA-04]"));
  CHECK(contains(error_of([&] { train_tokenizer({{folder.file("none.txt")}}, {300}); }), "[FILE-01]"));
}
