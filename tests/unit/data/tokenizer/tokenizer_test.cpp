#include "support/growth_of_time.hpp"
#include "unit/data/gpt2_tokenizer.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <nlohmann/json.hpp>

#include <random>
#include <sstream>

using namespace monomorph::data;
using monomorph::testing::growth_of_time;
using monomorph::testing::most_linear_growth;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

namespace {

std::vector<json> records(const std::string& name) {
  std::vector<json> result;
  std::istringstream lines(monomorph::read_text_file(fixture(name)));
  for (std::string line; std::getline(lines, line);) result.push_back(json::parse(line));
  return result;
}

std::string from_hex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

/// The smallest tokenizer.json that is accepted, for changing.
json small_tokenizer() {
  static const std::string text = [] {
    TokenizerDefinition definition = read_tokenizer_definition(fixture("gpt2_tokenizer.json"));
    definition.vocabulary.resize(258);
    std::get<tokenizer_models::Bpe>(definition.model).merges.resize(2);
    definition.added_tokens.clear();
    return to_tokenizer_json(definition);
  }();
  return json::parse(text);
}

std::string error_of_tokenizer(const TemporaryFolder& folder, const json& tokenizer) {
  const std::string path = folder.write("tokenizer.json", tokenizer.dump());
  return error_of([&] { Tokenizer unused(read_tokenizer_definition(path)); });
}

}  // namespace

TEST_CASE("GPT-2's ids and texts equal the reference's") {
  const auto references = records("tokenizer_gpt2.jsonl");
  REQUIRE(references.size() == 446);
  Encoder encoder(gpt2());
  for (const json& reference : references) {
    INFO(reference["i"]);
    const auto expected = reference["ids"].get<Ids>();
    const auto text = reference["text"].get<std::string>();
    CHECK(gpt2().encode(text) == expected);
    Ids ids;
    encoder.encode(text, ids);  // with what it remembers of the texts before
    CHECK(ids == expected);
    CHECK(gpt2().decode(expected) == reference["decoded_skip_special_false"].get<std::string>());
  }
}

TEST_CASE("Broken UTF-8 is encoded as the replacement character, group by group") {
  for (const json& reference : records("tokenizer_gpt2_invalid_utf8.jsonl")) {
    INFO(reference["bytes_hex"]);
    const std::string bytes = from_hex(reference["bytes_hex"].get<std::string>());
    CHECK(replace_invalid_utf8(bytes) == reference["text_after_python_replace"].get<std::string>());
    CHECK(gpt2().encode(bytes) == reference["ids"].get<Ids>());
  }
}

TEST_CASE("Decoding, whole and streamed, gives the reference's text") {
  for (const json& reference : records("tokenizer_gpt2_decode.jsonl")) {
    const auto ids = reference["ids"].get<Ids>();
    INFO(reference["ids"]);
    CHECK(gpt2().decode(ids) == reference["text"].get<std::string>());
    CHECK(gpt2().decode(ids, true) == reference["text_skip_special"].get<std::string>());
    StreamDecoder stream(gpt2());
    std::string text;
    for (const std::int32_t id : ids) {
      const std::string piece = stream.push(id);
      CHECK(valid_utf8_prefix(piece) == piece.size());
      text += piece;
    }
    CHECK(text + stream.finish() == reference["text"].get<std::string>());
  }
}

TEST_CASE("An id without a token is an error") {
  CHECK(contains(error_of([] { gpt2().decode(Ids{50257}); }), "[TOK-04]"));
  CHECK(contains(error_of([] { gpt2().decode(Ids{-1}); }), "[TOK-04]"));
}

TEST_CASE("A text encoded piece by piece has the ids of the whole") {
  std::string all;
  for (const json& reference : records("tokenizer_gpt2.jsonl")) all += reference["text"].get<std::string>() + "\n";
  for (const unsigned seed : {1u, 2u, 3u}) {
    std::mt19937 random(seed);
    Encoder encoder(gpt2());
    Ids ids;
    std::string pending;
    Utf8Stream characters;
    for (std::size_t position = 0; position < all.size();) {
      const std::size_t size = std::min<std::size_t>(random() % (seed == 1 ? 3 : 60), all.size() - position);
      pending += characters.push(std::string_view(all).substr(position, size));
      position += size;
      pending.erase(0, encoder.encode_decided(pending, ids, TextPiece::first));
    }
    encoder.encode_rest(pending + characters.finish(), ids, TextPiece::later);
    CHECK(ids == gpt2().encode(all));
  }
}

TEST_CASE("A long run of one character merges like the short ones it is made of") {
  const Ids ids = gpt2().encode(std::string(1 << 20, 'a'));
  CHECK(gpt2().decode(ids) == std::string(1 << 20, 'a'));
  CHECK(std::count(ids.begin() + 1, ids.end() - 1, ids[1]) == static_cast<std::ptrdiff_t>(ids.size()) - 2);
}

TEST_CASE("Long runs of one character take linear time") {
  for (const char letter : {'a', '\xff', ' ', '\n', '-', '0'}) {
    CAPTURE(letter);
    const auto run = [letter](std::size_t size) { return std::string(size, letter); };
    CHECK(growth_of_time(1 << 15, run, [](const std::string& text) { gpt2().encode(text); }) < most_linear_growth);
  }
}

TEST_CASE("The written tokenizer.json reads back the same") {
  TemporaryFolder folder;
  const std::string path = folder.write("tokenizer.json", to_tokenizer_json(gpt2().definition()));
  const TokenizerDefinition copy = read_tokenizer_definition(path);
  CHECK(copy.vocabulary == gpt2().definition().vocabulary);
  CHECK(std::get<tokenizer_models::Bpe>(copy.model).merges ==
        std::get<tokenizer_models::Bpe>(gpt2().definition().model).merges);
  REQUIRE(copy.added_tokens.size() == 1);
  CHECK(copy.added_tokens[0].content == "<|endoftext|>");
  CHECK(copy.added_tokens[0].special);
}

TEST_CASE("Merges may be pairs, and words that are tokens may be taken whole") {
  TemporaryFolder folder;
  json tokenizer = small_tokenizer();
  CHECK(error_of_tokenizer(folder, tokenizer) == "");
  tokenizer["model"]["merges"] = json::parse(R"([["h", "e"]])");
  tokenizer["model"]["vocab"]["he"] = 258;
  tokenizer["model"]["vocab"]["hey"] = 259;
  const auto ids_of_hey = [&] {
    return Tokenizer(read_tokenizer_definition(folder.write("t.json", tokenizer.dump()))).encode("hey");
  };
  CHECK(ids_of_hey() == Ids{258, tokenizer["model"]["vocab"]["y"].get<std::int32_t>()});
  tokenizer["model"]["ignore_merges"] = true;
  CHECK(ids_of_hey() == Ids{259});
}

TEST_CASE("A tokenizer.json that is no JSON is refused by what is wrong with it, and where") {
  TemporaryFolder folder;
  const auto refusal = [&](const std::string& text) {
    const std::string path = folder.write("t.json", text);
    return error_of([&] { read_tokenizer_definition(path); });
  };
  const std::string behind_nul = refusal(small_tokenizer().dump() + std::string("\n\0{}", 4));
  CHECK(contains(behind_nul, "[TOK-01]"));
  CHECK(contains(behind_nul, "is not JSON: there is a NUL byte (line 2, column 1); mend or copy it again"));
  CHECK(contains(refusal("{\"version\": 1e400}"), "is not JSON: number overflow parsing '1e400' (column 17)"));
  const std::string cut = refusal("{\"version\": \"1.0\",\n");
  CHECK(contains(cut, "[TOK-01]"));
  CHECK(contains(cut, "(line 2"));
  CHECK_FALSE(contains(cut, "json.exception"));
}

TEST_CASE("A tokenizer.json that is broken or contradicts itself is an error, never a crash") {
  TemporaryFolder folder;
  const auto broken = [&](const char* pointer, const json& value, const std::string& id) {
    json tokenizer = small_tokenizer();
    tokenizer[json::json_pointer(pointer)] = value;
    const std::string error = error_of_tokenizer(folder, tokenizer);
    INFO(pointer << ": " << error);
    CHECK(contains(error, id));
  };
  broken("/model", nullptr, "[TOK-01]");
  broken("/model/vocab", json::array(), "[TOK-01]");
  broken("/model/vocab/x", -1, "[TOK-01]");
  broken("/model/vocab/x", 4000000000u, "[TOK-01]");
  broken("/model/vocab/x", "7", "[TOK-01]");
  broken("/model/merges", {"a"}, "[TOK-01]");
  broken("/model/merges", {"a b c"}, "[TOK-01]");
  broken("/model/merges", {5}, "[TOK-01]");
  broken("/model/merges", {"a nothing"}, "[TOK-03]");
  broken("/model/merges", {"q q"}, "[TOK-03]");
  broken("/model/vocab/a", 0, "[TOK-03]");
  broken("/added_tokens", {{{"id", 3}, {"content", "<x>"}}}, "[TOK-03]");
  broken("/added_tokens", {{{"id", 300}, {"content", ""}}}, "[TOK-01]");
  json lacking = small_tokenizer();
  lacking["model"]["vocab"].erase("a");
  lacking["model"]["merges"] = json::array();
  CHECK(contains(error_of_tokenizer(folder, lacking), "0x61"));
  for (const char* text : {"", "[", "3", "{\"model\": 1}", "null"}) {
    const std::string path = folder.write("t.json", text);
    const std::string error = error_of([&] { read_tokenizer_definition(path); });
    CHECK((contains(error, "[TOK-0") && contains(error, "t.json")));
  }
}

TEST_CASE("Bytes of tokens: the text's, and none for special tokens") {
  const auto lengths = token_byte_lengths(gpt2());
  REQUIRE(lengths.size() == 50257);
  CHECK(lengths[50256] == 0);
  const std::string text = "Was für ein schöner Tag, 日本 😀!";
  std::int64_t sum = 0;
  for (const std::int32_t id : gpt2().encode(text + "<|endoftext|>")) sum += lengths[static_cast<std::size_t>(id)];
  CHECK(sum == static_cast<std::int64_t>(text.size()));
}
