#include "unit/data/data_test_support.hpp"

#include <monomorph/data/training/bpe_trainer.hpp>

#include <nlohmann/json.hpp>

#include <sstream>

using namespace monomorph::data;
using nlohmann::json;

namespace {

std::vector<std::string> merges_of(const TokenizerDefinition& definition) {
  std::vector<std::string> result;
  for (const TokenPair pair : std::get<tokenizer_models::Bpe>(definition.model).merges) {
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

TEST_CASE("Tokens and merges equal the reference's: ties, Unicode, frequencies, special tokens, patterns") {
  std::istringstream lines(monomorph::read_text_file(fixture("trained_merges.jsonl")));
  int n_cases = 0;
  for (std::string line; std::getline(lines, line); ++n_cases) {
    const json reference = json::parse(line);
    INFO(line);
    BpeTrainerSettings settings{reference["vocab_size"], reference["special"], reference["min_frequency"]};
    settings.pre_tokenizers = byte_level_words(reference["pattern"].get<std::string>());
    BpeTrainer trainer(settings);
    for (const json& text : reference["texts"]) trainer.feed(text.get<std::string>());
    const TokenizerDefinition definition = trainer.train();
    CHECK(merges_of(definition) == reference["merges"].get<std::vector<std::string>>());
    const auto n_given = static_cast<std::ptrdiff_t>(settings.special_tokens.size() + 256);
    CHECK(std::vector(definition.vocabulary.begin() + n_given, definition.vocabulary.end()) ==
          reference["tokens"].get<std::vector<std::string>>());
  }
  CHECK(n_cases == 27);
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

TEST_CASE("Files of both kinds, whatever the number of threads, give the merges of their texts") {
  TemporaryFolder folder;
  std::string lines, records;
  BpeTrainerSettings settings{600};
  BpeTrainer trainer(settings);
  for (int i = 0; i < 20000; ++i) {  // several blocks
    const std::string text =
        "number " + std::to_string(i * i % 977) + " of the texts is \xC3\xA9t\xC3\xA9" + std::string(i % 7, 'z');
    lines += text + "\n";
    records += json{{"meta", {{"body", text}}}}.dump() + "\n";
    trainer.feed(text + "\n");
    trainer.feed(text);
  }
  const std::string text_path = folder.write("a.txt", lines), records_path = folder.write("b.jsonl", records);
  const auto expected = merges_of(trainer.train());
  for (const int n_threads : {1, 2, 3}) {
    CHECK(merges_of(train_tokenizer({{text_path, records_path}, "/meta/body", n_threads}, settings)) == expected);
  }
}

TEST_CASE("Progress is told of the bytes that are read, then of the merges") {
  TemporaryFolder folder;
  const std::string input = folder.write("a.txt", "low lower lowest\nlow lower lowest\n");
  std::vector<std::pair<std::uint64_t, std::uint64_t>> bytes, merges;
  TrainingText text{{input}};
  text.progress = [&](std::uint64_t done, std::uint64_t total) { bytes.emplace_back(done, total); };
  text.merge_progress = [&](std::uint64_t done, std::uint64_t total) { merges.emplace_back(done, total); };
  train_tokenizer(text, {257 + 4});
  CHECK(bytes.back() == std::pair<std::uint64_t, std::uint64_t>{34, 34});
  CHECK(merges == std::vector<std::pair<std::uint64_t, std::uint64_t>>{{0, 4}, {1, 4}, {2, 4}, {3, 4}});
}

TEST_CASE("A text of one line beyond the limit for records is read whole") {
  TemporaryFolder folder;
  std::string text;
  while (text.size() < (std::size_t{20} << 20)) text += "ab abc ";
  const auto definition = train_tokenizer({{folder.write("text8", text)}}, {270});
  CHECK(merges_of(definition) == std::vector<std::string>{"a b", "Ġ ab", "Ġab c"});
}

TEST_CASE("A line that is no document stops the training and is named") {
  TemporaryFolder folder;
  const auto error = [&](const std::string& bytes, const std::string& field) {
    return error_of([&] { train_tokenizer({{folder.write("x.jsonl", bytes)}, field, 2}, {300}); });
  };
  const std::string good = "{\"text\": \"a\"}\n";
  CHECK(contains(error(good + good + "{\"text\": 3}\n", "/text"), "[DATA-03]"));
  CHECK(contains(error(good + good + "{\"text\": 3}\n", "/text"), "line 3"));
  CHECK(contains(error(good + "\n" + good, "/text"), "[DATA-02]"));
  CHECK(contains(error(good + "{\"text\": \"\xff\"}", "/text"), "line 2"));
  CHECK(contains(error(good, "/body"), "[DATA-03]"));
  CHECK(contains(error(good, "body"), "[DATA-10]"));
  CHECK(contains(error("", "/text"), "[DATA-04]"));
}

TEST_CASE("Training settings that cannot be are refused") {
  const auto error = [](BpeTrainerSettings settings) { return error_of([&] { BpeTrainer unused(settings); }); };
  CHECK(contains(error({256}), "--vocab-size 257"));
  CHECK(contains(error({-5}), "[TOK-05]"));
  CHECK(contains(error({2000000000}), "[TOK-05]"));
  CHECK(contains(error({300, {""}}), "[TOK-05]"));
  CHECK(contains(error({300, {"a", "a"}}), "[TOK-05]"));
  CHECK(contains(error({300, {}, 0, {}}), "[TOK-05]"));
  CHECK(contains(error({300, {}, 0, byte_level_words("(")}), "[TOK-10]"));
  CHECK(contains(error({300, {}, 0, byte_level_words("(")}), "given with --pattern"));
  TemporaryFolder folder;
  CHECK(contains(error_of([&] { train_tokenizer({{folder.write("empty.txt", "")}}, {300}); }), "[DATA-04]"));
  CHECK(contains(error_of([&] { train_tokenizer({{folder.file("none.txt")}}, {300}); }), "[FILE-01]"));
}
