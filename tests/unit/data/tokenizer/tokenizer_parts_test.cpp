#include "support/growth_of_time.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <nlohmann/json.hpp>

#include <functional>

using namespace monomorph::data;
using monomorph::testing::growth_of_time;
using monomorph::testing::most_linear_growth;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

namespace {

const json& cases() {
  static const json all = json::parse(monomorph::read_text_file(tokenizer_fixture("part_cases.json")));
  return all;
}

Ids ids_of(const json& written) {
  if (!written.is_string()) return written.get<Ids>();
  Ids ids;  // bytes in hexadecimal digits
  const auto& digits = written.get_ref<const std::string&>();
  for (std::size_t i = 0; i < digits.size(); i += 2) ids.push_back(std::stoi(digits.substr(i, 2), nullptr, 16));
  return ids;
}

TokenizerDefinition definition_of(json tokenizer) {
  if (tokenizer["model"] == "bytes") tokenizer["model"] = cases()["bytes"];
  const TemporaryFolder folder;
  return read_tokenizer_definition(folder.write("tokenizer.json", tokenizer.dump()));
}

TokenizerDefinition written_and_read(const TokenizerDefinition& definition) {
  const TemporaryFolder folder;
  return read_tokenizer_definition(folder.write("tokenizer.json", to_tokenizer_json(definition)));
}

/// A byte-level BPE of the 256 bytes with the parts of `changes` in place of its own.
json with_parts(const json& changes) {
  json tokenizer = cases()["encoding"]["NFC"]["tokenizer"];
  tokenizer["model"] = cases()["bytes"];
  tokenizer["normalizer"] = nullptr;
  tokenizer.merge_patch(changes);
  return tokenizer;
}

std::string error_of_parts(const json& changes) {
  const TemporaryFolder folder;
  const std::string path = folder.write("tokenizer.json", with_parts(changes).dump());
  return error_of([&] { Tokenizer unused(read_tokenizer_definition(path)); });
}

}  // namespace

TEST_CASE("Every part of a tokenizer.json gives the reference's ids") {
  const auto texts = cases()["texts"].get<std::vector<std::string>>();
  REQUIRE(cases()["encoding"].size() >= 100);
  for (const auto& [name, reference] : cases()["encoding"].items()) {
    INFO(name);
    const TokenizerDefinition definition = definition_of(reference["tokenizer"]);
    const Tokenizer tokenizer(definition), copy(written_and_read(definition));
    Encoder encoder(tokenizer);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      INFO(texts[i]);
      const Ids expected = ids_of(reference["ids"][i]);
      CHECK(tokenizer.encode(texts[i], SpecialTokens::around_text) == expected);
      CHECK(copy.encode(texts[i], SpecialTokens::around_text) == expected);
      Ids ids;
      encoder.encode(texts[i], ids, SpecialTokens::around_text);  // with what it remembers of the texts before
      CHECK(ids == expected);
    }
  }
}

TEST_CASE("Every decoder gives the reference's text, whole and streamed") {
  REQUIRE(cases()["decoding"].size() >= 18);
  for (const auto& [name, reference] : cases()["decoding"].items()) {
    INFO(name);
    const TokenizerDefinition definition = definition_of(reference["tokenizer"]);
    const Tokenizer tokenizer(definition), copy(written_and_read(definition));
    for (const json& one : reference["texts"]) {
      INFO(one.dump());
      const auto ids = one["ids"].get<Ids>();
      const auto expected = one["text"].get<std::string>();
      const bool skip = one["skip_special"].get<bool>();
      CHECK(tokenizer.decode(ids, skip) == expected);
      CHECK(copy.decode(ids, skip) == expected);
      StreamDecoder stream(tokenizer, skip);
      std::string text;
      for (const std::int32_t id : ids) {
        const std::string piece = stream.push(id);
        CHECK(valid_utf8_prefix(piece) == piece.size());
        text += piece;
      }
      CHECK(text + stream.finish() == expected);
    }
  }
}

TEST_CASE("Streaming shows a text as soon as it is settled") {
  const Tokenizer tokenizer(definition_of(cases()["decoding"]["Llama"]["tokenizer"]));
  const auto id = [&](const char* token) { return *tokenizer.find(token); };
  StreamDecoder stream(tokenizer);
  CHECK(stream.push(id("\u2581He")) == "He");  // the space that the tokeniser put there is taken out
  CHECK(stream.push(id("llo")) == "llo");
  CHECK(stream.push(id("\u2581")) == "");  // stripped if the text ends here
  CHECK(stream.push(id("!")) == " !");
  CHECK(stream.push(id("<0xE2>")) == "");
  CHECK(stream.push(id("<0x96>")) == "");
  CHECK(stream.push(id("<0x81>")) == "");
  CHECK(stream.push(id("!")) == "\u2581!");
  CHECK(stream.push(id("<0xE2>")) == "");
  CHECK(stream.finish() == "\uFFFD");
}

TEST_CASE("Special tokens surround a text only where that is asked for") {
  const Tokenizer tokenizer(definition_of(cases()["encoding"]["post Template"]["tokenizer"]));
  const Ids plain = tokenizer.encode("a");
  CHECK(plain == tokenizer.encode("a", SpecialTokens::none));
  Ids framed{256};
  framed.insert(framed.end(), plain.begin(), plain.end());
  framed.insert(framed.end(), {257, 257});
  CHECK(tokenizer.encode("a", SpecialTokens::around_text) == framed);
  CHECK(tokenizer.ids_before_text().size() == 1);
  CHECK(tokenizer.ids_after_text().size() == 2);
  CHECK(tokenizer.encode("", SpecialTokens::around_text) == Ids{256, 257, 257});
}

// What version 0.23.3 of the reference gives.
TEST_CASE("Added tokens that are normalized show what the normalizers make of them, and are skipped by that name") {
  TokenizerDefinition definition;
  for (const char c : std::string("abcde<>lsprw")) definition.vocabulary.emplace_back(1, c);
  definition.normalizers = {normalizers::Lowercase{}};
  definition.pre_tokenizers = {};
  definition.decoders = {decoders::Fuse{}};
  definition.model = tokenizer_models::Bpe{};
  definition.added_tokens = {{.content = "<PLAIN>", .id = 12, .special = false, .normalized = true},
                             {.content = "<RAW>", .id = 13, .special = false, .normalized = false},
                             {.content = "<SPEC>", .id = 14, .special = true, .normalized = true},
                             {.content = "<SRAW>", .id = 15, .special = true, .normalized = false},
                             {.content = "<same>", .id = 16, .special = true, .normalized = true}};
  const Tokenizer tokenizer(definition);
  const std::vector<std::int32_t> ids = tokenizer.encode("a<PLAIN>b<RAW>c<SPEC>d<SRAW>e<SAME>");
  CHECK(ids == std::vector<std::int32_t>{0, 12, 1, 13, 2, 14, 3, 15, 4, 16});
  CHECK(tokenizer.decode(ids) == "a<plain>b<RAW>c<spec>d<SRAW>e<same>");
  CHECK(tokenizer.decode(ids, true) == "a<plain>b<RAW>c<spec>de");
}

TEST_CASE("What a file keeps of a call's truncation and padding changes nothing") {
  const json truncation{{"direction", "Right"}, {"max_length", 2}, {"strategy", "LongestFirst"}, {"stride", 0}},
      padding{{"strategy", {{"Fixed", 8}}}, {"direction", "Right"}, {"pad_id", 0}, {"pad_token", "[PAD]"}};
  CHECK(error_of_parts({{"truncation", truncation}, {"padding", padding}}).empty());
  CHECK(contains(error_of_parts({{"truncation", 128}}), "[TOK-01]"));
  CHECK(contains(error_of_parts({{"padding", "longest"}}), "[TOK-01]"));
}

TEST_CASE("Parts that are not supported are refused by name") {
  const auto refused = [](const json& changes, const std::string& name) {
    const std::string error = error_of_parts(changes);
    INFO(error);
    CHECK(contains(error, "[TOK-02]"));
    CHECK(contains(error, name));
    CHECK(contains(error, "tokenizer.json"));
  };
  const auto split = [](const char* regex) {
    return json{{"pre_tokenizer",
                 {{"type", "Split"}, {"pattern", {{"Regex", regex}}}, {"behavior", "Isolated"}, {"invert", false}}}};
  };
  refused({{"normalizer", {{"type", "Shout"}}}}, "normalizer \"Shout\"");
  refused({{"pre_tokenizer", {{"type", "UnicodeScripts"}}}}, "pre_tokenizer \"UnicodeScripts\"");
  refused({{"pre_tokenizer", {{"type", "Punctuation"}, {"behavior", "Lost"}}}}, "behavior \"Lost\"");
  refused({{"pre_tokenizer", {{"add_prefix_space", false}}}}, "pre_tokenizer of an unknown kind");
  refused({{"post_processor", {{"type", "Other"}}}}, "post_processor \"Other\"");
  refused({{"decoder", {{"type", "CTC"}}}}, "decoder \"CTC\"");
  refused({{"model", {{"type", "Morse"}}}}, "model \"Morse\"");
  refused({{"model", {{"dropout", 0.1}}}}, "dropout");
  refused({{"version", "2.0"}}, "version");
  refused(split("(?~a)"), "(?~");
  refused(split("(?<=a+)b"), "looks behind");
  refused(split("\\p{InGreek}"), "InGreek");
  refused(split("a\\Kb"), "\\K");
  refused(split("(*ACCEPT)"), "(*A");
}

TEST_CASE("Keys that are not known are refused by name, unless they say nothing") {
  const auto refused = [](const json& changes, const std::string& where) {
    const std::string error = error_of_parts(changes);
    INFO(error);
    CHECK(contains(error, "[TOK-02]"));
    CHECK(contains(error, "\"shade\" in " + where));
  };
  const auto with_shade = [](json part) {
    part["shade"] = 0.5;
    return part;
  };
  const json lowercase = with_shade({{"type", "Lowercase"}});
  refused({{"shade", 0.5}}, "the file");
  refused({{"normalizer", lowercase}}, "the normalizer \"Lowercase\"");
  refused({{"normalizer", {{"type", "Sequence"}, {"normalizers", {lowercase}}}}}, "the normalizer \"Lowercase\"");
  refused({{"pre_tokenizer", with_shade({{"type", "Digits"}, {"individual_digits", true}})}},
          "the pre_tokenizer \"Digits\"");
  refused({{"post_processor", with_shade({{"type", "ByteLevel"}})}}, "the post_processor \"ByteLevel\"");
  refused({{"decoder", with_shade({{"type", "Fuse"}})}}, "the decoder \"Fuse\"");
  refused({{"model", {{"shade", 0.5}}}}, "the model \"BPE\"");
  refused({{"added_tokens", {with_shade({{"id", 0}, {"content", "<s>"}})}}}, "one of \"added_tokens\"");
  json says_nothing = with_parts(json::object());
  says_nothing["shade"] = says_nothing["model"]["shade"] = nullptr;
  CHECK_NOTHROW(definition_of(says_nothing));
}

TEST_CASE("Regular expressions that are none are one clear line") {
  for (const char* regex : {"a)", "(a", "[a", "[b-a]", "*a", "\\x{110000}", "\\p", "(?<n", "[a-\\d]", "\\g{",
                            "a{99999999}", "[[:none:]]", "\\"}) {
    const std::string error =
        error_of_parts({{"normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", regex}}}, {"content", ""}}}});
    INFO(regex << ": " << error);
    CHECK((contains(error, "[TOK-10]") || contains(error, "[TOK-02]")));
    CHECK(error.find('\n') == std::string::npos);
  }
  std::string nested;
  for (int i = 0; i < 100'000; ++i) nested += '(';
  CHECK(contains(error_of_parts(
                     {{"normalizer", {{"type", "Replace"}, {"pattern", {{"Regex", nested}}}, {"content", ""}}}}),
                 "[TOK-02]"));
}

TEST_CASE("A pattern that backtracks without end is stopped") {
  const json split = {{"type", "Split"},
                      {"pattern", {{"Regex", "(a|a|b)*[cd]"}}},
                      {"behavior", "Isolated"},
                      {"invert", false}};
  const Tokenizer tokenizer(definition_of(with_parts({{"pre_tokenizer", split}})));
  CHECK(tokenizer.encode("aac").size() > 3);
  CHECK(contains(error_of([&] { tokenizer.encode(std::string(2000, 'a')); }), "[TOK-11]"));
}

TEST_CASE("Long runs take linear time in every part") {
  const auto run_of = [](char letter) { return [=](std::size_t size) { return std::string(size, letter); }; };
  const auto marks = [](std::size_t size) {
    std::string text = "a";
    for (std::size_t i = 0; i < size / 8; ++i) text += i % 2 ? "\u0301" : "\u0323";
    return text;
  };
  const std::function<std::string(std::size_t)> runs[] = {run_of(' '), run_of('a'), run_of('.'), run_of('<'), marks};
  for (const char* name :
       {"NFC", "Bert all", "Replace regex", "Split cl100k merged", "Split deepseek", "Split look",
        "Punctuation Contiguous", "Metaspace first True", "Falcon", "added all", "BPE byte_fallback True"}) {
    const Tokenizer tokenizer(definition_of(cases()["encoding"][name]["tokenizer"]));
    for (const auto& run : runs) {
      INFO(name << " " << run(1));
      CHECK(growth_of_time(1 << 13, run, [&](const std::string& text) { tokenizer.encode(text); }) <
            most_linear_growth);
    }
  }
}

TEST_CASE("Tokens count the bytes of the text that they stand for") {
  const auto lengths = [](const char* name) {
    const Tokenizer tokenizer(definition_of(cases()["decoding"][name]["tokenizer"]));
    const auto all = token_byte_lengths(tokenizer);
    return [=, ids = cases()["decoding"][name]["tokenizer"]["model"]["vocab"]](const char* token) {
      return all[ids[token].get<std::size_t>()];
    };
  };
  const auto llama = lengths("Llama");
  CHECK(llama("\u2581world") == 6);
  CHECK(llama("<0xE2>") == 1);
  const auto word_piece = lengths("WordPiece");
  CHECK(word_piece("##llo") == 3);
  CHECK(word_piece("he") == 3);  // with the space before it
  CHECK(word_piece("!") == 1);
  CHECK(word_piece("[CLS]") == 0);
  CHECK(lengths("BPEDecoder")("llo</w>") == 4);
}

TEST_CASE("A character that no token stands for is an error where the unk_token is missing") {
  const json word_level = {{"type", "WordLevel"}, {"unk_token", "?"}, {"vocab", {{"a", 0}}}};
  json tokenizer = with_parts(json::object());
  tokenizer["model"] = word_level;
  const Tokenizer words(definition_of(tokenizer));
  CHECK(words.encode("a") == Ids{0});
  CHECK(contains(error_of([&] { words.encode("b"); }), "[TOK-12]"));
  tokenizer["model"] = {{"type", "BPE"}, {"unk_token", "?"}, {"vocab", {{"a", 0}}}, {"merges", json::array()}};
  const Tokenizer characters(definition_of(tokenizer));
  CHECK(contains(error_of([&] { characters.encode("ab"); }), "[TOK-12]"));
}

TEST_CASE("Post-processors and added tokens that contradict the vocabulary are errors") {
  const auto contradicts = [](const json& changes) { CHECK(contains(error_of_parts(changes), "[TOK-03]")); };
  contradicts({{"post_processor", {{"type", "BertProcessing"}, {"sep", {"[SEP]", 300}}, {"cls", {"[CLS]", 301}}}}});
  contradicts({{"added_tokens", {{{"id", 3}, {"content", "<x>"}}}}});
  contradicts({{"added_tokens", {{{"id", 300}, {"content", "<0x00>"}}}}});
  contradicts({{"normalizer", {{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}}},
               {"added_tokens", {{{"id", 300}, {"content", " "}, {"normalized", true}}}}});
  contradicts({{"model", {{"merges", json::array({json::array({"<0x00>", "<0x01>"})})}}}});
}
