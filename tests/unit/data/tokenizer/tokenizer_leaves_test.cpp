#include "data/text/base64.hpp"
#include "support/growth_of_time.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/data/text/piece_trie.hpp>
#include <monomorph/data/tokenizer/models/unigram_model.hpp>
#include <monomorph/data/tokenizer/models/word_piece_model.hpp>
#include <monomorph/data/tokenizer/stages/precompiled_character_map.hpp>

#include <nlohmann/json.hpp>

#include <map>
#include <random>

using namespace monomorph::data;
using monomorph::testing::growth_of_time;
using monomorph::testing::most_linear_growth;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

namespace {

const json& leaf_cases() {
  static const json cases = json::parse(monomorph::read_text_file(tokenizer_fixture("leaf_cases.json")));
  return cases;
}

std::string character_map_bytes() {
  return decode_base64(leaf_cases()["character_map"]["map"].get<std::string>()).value();
}

std::string applied(const PrecompiledCharacterMap& map, const std::string& text) {
  std::string result;
  map.apply(text, result);
  return result;
}

template <class Model> Ids ids_of(const Model& model, const std::string& word) {
  Ids ids{-7};  // is appended to
  model.encode(word, ids);
  REQUIRE(ids.front() == -7);
  ids.erase(ids.begin());
  return ids;
}

UnigramModel unigram(const std::vector<std::string>& pieces, const std::vector<double>& scores,
                     UnigramSettings settings = {}) {
  return {pieces, scores, settings};
}

}  // namespace

TEST_CASE("A trie finds what a search through all strings finds") {
  std::mt19937 random(11);
  for (const unsigned n_letters : {2u, 30u, 256u}) {
    const auto text = [&](std::size_t longest) {
      std::string result(random() % (longest + 1), '\0');
      for (char& letter : result) letter = static_cast<char>(255 - random() % n_letters);
      return result;
    };
    std::map<std::string, std::int32_t> expected;
    std::vector<std::string> strings(3000);
    std::generate(strings.begin(), strings.end(), [&] { return text(n_letters == 2 ? 12 : 3); });
    std::vector<PieceTrie::Entry> entries;
    for (const std::string& string : strings) {
      entries.emplace_back(string, static_cast<std::int32_t>(entries.size()));
      expected[string] = entries.back().second;
    }
    expected.erase("");
    const PieceTrie trie(entries);
    for (const auto& [string, value] : expected) REQUIRE(trie.find(string) == value);
    for (int i = 0; i < 3000; ++i) {
      const std::string searched = text(14);
      std::vector<std::pair<std::size_t, std::int32_t>> found, wanted;
      trie.for_each_prefix(searched, [&](PieceTrie::Match match) { found.emplace_back(match.length, match.value); });
      for (std::size_t length = 1; length <= searched.size(); ++length) {
        const auto entry = expected.find(searched.substr(0, length));
        if (entry != expected.end()) wanted.emplace_back(length, entry->second);
      }
      REQUIRE(found == wanted);
      REQUIRE(trie.longest_prefix(searched).length == (wanted.empty() ? 0 : wanted.back().first));
    }
  }
  CHECK(PieceTrie({}).find("a") == -1);
}

TEST_CASE("Unigram: the reference's ids, with ties, unknown runs and byte fallback") {
  for (const json& kind : leaf_cases()["unigram"]) {
    const UnigramModel model =
        unigram(kind["pieces"].get<std::vector<std::string>>(), kind["scores"].get<std::vector<double>>(),
                {kind["unk_id"].get<std::int32_t>(), kind["byte_fallback"].get<bool>()});
    for (const json& example : kind["cases"]) {
      INFO(example[0]);
      CHECK(ids_of(model, example[0].get<std::string>()) == example[1].get<Ids>());
    }
  }
}

TEST_CASE("Unigram: an unknown character needs an unknown id, and that a piece") {
  const UnigramModel model = unigram({"a", "b"}, {-1, -1});
  CHECK(ids_of(model, "ab") == Ids{0, 1});
  CHECK(contains(error_of([&] { ids_of(model, "a\xE2\x82\xAC"); }), "[TOK-41]"));
  CHECK(ids_of(model, "ba") == Ids{1, 0});  // as if nothing had happened
  CHECK(contains(error_of([] { unigram({"a"}, {-1}, {1}); }), "[TOK-40]"));
  CHECK(contains(error_of([] { unigram({"a"}, {-1}, {-1}); }), "[TOK-40]"));
  CHECK(contains(error_of([] { unigram({}, {}, {0}); }), "[TOK-40]"));
}

TEST_CASE("Unigram: long runs take linear time") {
  const UnigramModel model = unigram({"<unk>", "a", "aa", "aaaaaaaa", "b"}, {0, -3, -4, -5, -3}, {0});
  const std::size_t n = std::size_t{1} << 22;
  CHECK((ids_of(model, std::string(n, 'a')) == Ids(n / 8, 3)));
  CHECK((ids_of(model, std::string(n, 'x')) == Ids{0}));
  CHECK((ids_of(model, std::string(n, 'b')) == Ids(n, 4)));
  CHECK(ids_of(model, "") == Ids{});
  for (const char letter : {'a', 'x', 'b'}) {
    CAPTURE(letter);
    const auto run = [letter](std::size_t size) { return std::string(size, letter); };
    CHECK(growth_of_time(1 << 15, run, [&](const std::string& word) { ids_of(model, word); }) < most_linear_growth);
  }
}

TEST_CASE("WordPiece: the reference's ids") {
  for (const json& kind : leaf_cases()["word_piece"]) {
    const WordPieceModel model(kind["pieces"].get<std::vector<std::string>>(),
                               {"[UNK]", kind["prefix"].get<std::string>(),
                                kind["max_input_chars_per_word"].get<std::size_t>()});
    for (const json& example : kind["cases"]) {
      INFO(kind["prefix"] << " " << example[0]);
      CHECK(ids_of(model, example[0].get<std::string>()) == example[1].get<Ids>());
    }
  }
}

TEST_CASE("WordPiece: long words, and an unknown token that is missing") {
  const std::vector<std::string> pieces{"a", "", "##a", "##aaaa"};
  const std::size_t n = std::size_t{1} << 20;
  const WordPieceModel model(pieces, {.max_input_chars_per_word = n});
  Ids expected(n / 4 + 3, 3);
  expected.front() = 0;
  std::fill(expected.end() - 3, expected.end(), 2);
  CHECK((ids_of(model, std::string(n, 'a')) == expected));
  CHECK(contains(error_of([&] { ids_of(model, std::string(n + 1, 'a')); }), "[TOK-42]"));
  CHECK(contains(error_of([&] { ids_of(model, "ab"); }), "[TOK-42]"));
}

TEST_CASE("A precompiled character map changes texts as the reference does") {
  const PrecompiledCharacterMap map(character_map_bytes());
  for (const json& example : leaf_cases()["character_map"]["cases"]) {
    INFO(example[0]);
    CHECK(applied(map, example[0].get<std::string>()) == example[1].get<std::string>());
  }
}

TEST_CASE("A precompiled character map takes linear time") {
  const PrecompiledCharacterMap map(character_map_bytes());
  const auto marks = [](std::size_t n) {
    std::string text = "q";
    for (std::size_t i = 0; i < n; ++i) text += "\xCC\x81";
    return text;
  };
  CHECK((applied(map, marks(1 << 20)) == marks(1 << 20)));
  CHECK(growth_of_time(1 << 15, marks, [&](const std::string& text) { applied(map, text); }) < most_linear_growth);
}

TEST_CASE("A damaged character map is an error, never a crash") {
  const std::string good = character_map_bytes();
  const auto error = [](const std::string& bytes) { return error_of([&] { PrecompiledCharacterMap unused(bytes); }); };
  CHECK(error(good) == "");
  for (const std::size_t size : {0u, 3u, 4u, 5u, 1000u}) {
    CHECK(contains(error(good.substr(0, size)), "[TOK-43]"));
  }
  CHECK(contains(error(std::string(8, '\xFF')), "[TOK-43]"));
  CHECK(contains(error(good + "\xFF"), "[TOK-43]"));
  CHECK(contains(error(std::string(4, '\0') + good.substr(4)), "[TOK-43]"));
  std::mt19937 random(5);
  int n_refused = 0;
  for (int i = 0; i < 2000; ++i) {  // what it makes of these does not matter: the sanitizers watch
    std::string damaged = good;
    for (int change = 0; change < 1 + i % 40; ++change) {
      damaged[4 + random() % (damaged.size() - 4)] = static_cast<char>(random());
    }
    const std::string message = error_of([&] {
      const PrecompiledCharacterMap map(damaged);
      for (const json& example : leaf_cases()["character_map"]["cases"]) {
        const std::string text = example[0].get<std::string>();
        if (random() % 16 == 0) applied(map, text);
      }
    });
    CHECK((message.empty() || contains(message, "[TOK-43]")));
    n_refused += !message.empty();
  }
  CHECK(n_refused > 0);
}

TEST_CASE("Base64 as encoders write it, and nothing else") {
  CHECK(decode_base64("").value() == "");
  CHECK(decode_base64("TQ==").value() == "M");
  CHECK(decode_base64("TWE=").value() == "Ma");
  CHECK(decode_base64("TWFu").value() == "Man");
  CHECK(decode_base64("+/+/").value() == "\xFB\xFF\xBF");
  for (const char* broken : {"T", "TQ", "TQ=", "TR==", "TWF=", "T===", "====", "TQ==TQ==", "TW u", "-_-_", "TQ=u"}) {
    INFO(broken);
    CHECK_FALSE(decode_base64(broken));
  }
}
