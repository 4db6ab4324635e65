#include "unit/data/data_test_support.hpp"

#include <monomorph/data/prepare/pack.hpp>
#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/tokenizer/sentence_piece/sentence_piece_model.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <random>

using namespace monomorph::data;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

namespace {

std::string streamed(const Tokenizer& tokenizer, const Ids& ids) {
  StreamDecoder stream(tokenizer);
  std::string text;
  for (const std::int32_t id : ids) {
    const std::string piece = stream.push(id);
    CHECK(valid_utf8_prefix(piece) == piece.size());
    text += piece;
  }
  return text + stream.finish();
}

/// GPT-2's tokenizer with tokens around every text.
json framed_tokenizer() {
  json tokenizer = json::parse(monomorph::read_text_file(fixture("gpt2_tokenizer.json")));
  tokenizer["added_tokens"].push_back({{"id", 50257}, {"content", "<s>"}, {"special", true}, {"normalized", false}});
  tokenizer["added_tokens"].push_back({{"id", 50258}, {"content", "<x>"}, {"special", false}, {"normalized", false}});
  tokenizer["post_processor"] = {{"type", "BertProcessing"}, {"cls", {"<s>", 50257}}, {"sep", {"<x>", 50258}}};
  return tokenizer;
}

/// The tokens of a packed file of 2 bytes a token.
Ids packed_ids(const std::string& path) {
  const std::string bytes = monomorph::read_text_file(path, 1 << 20);
  const auto number = [&](std::size_t at, std::size_t n_bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < n_bytes; ++i)
      value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << 8 * i;
    return value;
  };
  REQUIRE(number(8, 4) == 2);
  Ids ids;
  for (std::size_t at = 12; at < 12 + number(0, 8); at += 2) ids.push_back(static_cast<std::int32_t>(number(at, 2)));
  return ids;
}

}  // namespace

TEST_CASE("A SentencePiece file is a tokenizer like any other") {
  for (const char* name : {"unigram.model", "bpe.model"}) {
    INFO(name);
    const SentencePieceModel model(tokenizer_fixture(name));
    const auto tokenizer = read_tokenizer(tokenizer_fixture(name));
    REQUIRE(tokenizer->vocab_size() == model.vocab_size());
    Encoder encoder(*tokenizer);
    for (const std::string text : {"", "Hello,  world!", " 漢字 \n😀 é", "<s> a </s>", "\xFF broken"}) {
      Ids expected, ids;
      model.encode(text, expected);
      CHECK(tokenizer->encode(text) == expected);
      CHECK(tokenizer->encode(text, SpecialTokens::around_text) == expected);
      encoder.encode(text, ids);
      CHECK(ids == expected);
      CHECK(tokenizer->decode(ids) == model.decode(ids));
      CHECK(encoder.encode_decided(text, ids, TextPiece::first) == 0);
    }
    std::mt19937 random(1);
    for (int i = 0; i < 300; ++i) {
      Ids ids(random() % 12);
      for (std::int32_t& id : ids) {  // half of them from the beginning: control tokens and bytes
        id = static_cast<std::int32_t>(random() % static_cast<unsigned>(i % 2 ? model.vocab_size() : 260));
      }
      CHECK(streamed(*tokenizer, ids) == model.decode(ids));
    }
    CHECK(tokenizer->is_special(*tokenizer->find("</s>")));
    CHECK(token_byte_lengths(*tokenizer)[static_cast<std::size_t>(*tokenizer->find("</s>"))] == 0);
    CHECK(contains(error_of([&] { (void)tokenizer->token_of(model.vocab_size()); }), "[TOK-04]"));
    const TemporaryFolder folder;
    const std::string copy =
        folder.write("tokenizer.json", monomorph::read_text_file(tokenizer_fixture(name), 1 << 22));
    CHECK(read_tokenizer(copy)->encode("Hello") == tokenizer->encode("Hello"));
  }
}

TEST_CASE("Text from outside cannot write special tokens") {
  const TemporaryFolder folder;
  const auto tokenizer = read_tokenizer(folder.write("t.json", framed_tokenizer().dump()));
  Encoder encoder(*tokenizer);
  Ids ids;
  encoder.encode_plain("a<s><|endoftext|><x>", ids);
  CHECK(std::count(ids.begin(), ids.end(), 50257) == 0);
  CHECK(std::count(ids.begin(), ids.end(), 50256) == 0);
  CHECK(ids.back() == 50258);
  CHECK(tokenizer->decode(ids) == "a<s><|endoftext|><x>");
}

TEST_CASE("Packing writes what the tokenizer puts around a text") {
  const TemporaryFolder folder;
  const auto tokenizer = read_tokenizer(folder.write("t.json", framed_tokenizer().dump()));
  const Ids hello = tokenizer->encode("Hello");
  REQUIRE(hello.size() == 1);
  const auto packed = [&](const std::string& name, const std::string& bytes) {
    const auto summary = pack(folder.write(name, bytes), *tokenizer, folder.file(name + ".pbin"), {});
    CHECK(summary.n_empty_documents == (name == "a.jsonl" ? 1 : 0));
    return packed_ids(folder.file(name + ".pbin"));
  };
  const Ids document{50257, hello[0], 50258, 50256};
  Ids both = document;
  both.insert(both.end(), {50257, 50258, 50256});
  CHECK(packed("a.jsonl", "{\"text\": \"Hello\"}\n{\"text\": \"\"}\n") == both);
  CHECK(packed("b.txt", "Hello") == document);
}
