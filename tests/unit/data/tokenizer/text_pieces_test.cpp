#include "unit/data/data_test_support.hpp"

#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <nlohmann/json.hpp>

#include <random>

using namespace monomorph::data;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

namespace {

/// The ids of a text that comes in pieces of up to `most` bytes, and how many bytes were encoded before the end.
std::pair<Ids, std::size_t> encode_in_pieces(const Tokenizer& tokenizer, const std::string& text, std::size_t most,
                                             std::mt19937& random) {
  Encoder encoder(tokenizer);
  Ids ids;
  std::string pending;
  std::size_t n_decided = 0;
  const auto piece = [&] { return n_decided == 0 ? TextPiece::first : TextPiece::later; };
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t size = 1 + random() % most;
    pending += text.substr(begin, size);
    begin += size;
    const std::size_t n_more = encoder.encode_decided(pending, ids, piece());
    pending.erase(0, n_more);
    n_decided += n_more;
  }
  encoder.encode_rest(pending, ids, piece());
  return {ids, n_decided};
}

/// Words and all that may stand between them or change them: marks, what normal forms rewrite, other scripts, added
/// tokens.
std::string random_text(const std::vector<std::string>& fragments, std::mt19937& random) {
  std::string text;
  for (std::size_t i = random() % 40; i > 0; --i) {
    if (random() % 2 == 0) text += ' ';
    text += fragments[random() % fragments.size()];
  }
  return text;
}

std::vector<std::string> fragments_for(const TokenizerDefinition& definition) {
  std::vector<std::string> fragments{"a",
                                     "the",
                                     "Word",
                                     "kingdoms",
                                     "ab",
                                     "\u00E9t\u00E9",
                                     "e\u0301",
                                     "\u0301",
                                     "o\u0300\u0301",
                                     " ",
                                     "  ",
                                     "\n",
                                     "\r\n",
                                     "\t",
                                     "\u00A0",
                                     "\u2581",
                                     "\u2581\u2581",
                                     "a\u2581b",
                                     "\u4E2D\u6587",
                                     "\uD55C\uAE00",
                                     "\u1112\u1161",
                                     "\u0416\u0438\u0432",
                                     "\u039F\u0394\u039F\u03A3",
                                     "\uFB01n",
                                     "\u0140l",
                                     "\u0149",
                                     "\u0130I",
                                     "\uFDFA",
                                     "\u0915\u094D\u0937",
                                     "\u0D4E\u0D15",
                                     "1 2",
                                     "3.14",
                                     "don't",
                                     "!",
                                     "...",
                                     "\u200B",
                                     "\u00AD",
                                     "\x01",
                                     "\U0001F600",
                                     "x y z",
                                     "'ll"};
  for (const AddedToken& token : definition.added_tokens) fragments.push_back(token.content);
  return fragments;
}

void check_pieces(const Tokenizer& tokenizer, int n_texts, std::mt19937& random) {
  int n_compared = 0;
  const std::vector<std::string> fragments = fragments_for(tokenizer.definition());
  for (int i = 0; i < n_texts; ++i) {
    const std::string text = random_text(fragments, random);
    Ids whole;
    try {
      whole = tokenizer.encode(text);
    } catch (const monomorph::Error&) {  // a pattern that gives the text up, a character without a token
      continue;
    }
    const Ids pieces = encode_in_pieces(tokenizer, text, 60, random).first;
    if (pieces != whole) CHECK(json(text).dump() + json(pieces).dump() == json(text).dump() + json(whole).dump());
    ++n_compared;
  }
  CHECK(n_compared > 0);
}

}  // namespace

TEST_CASE("A text in pieces has the ids of the whole, with every part that tokenizers have") {
  const json cases = json::parse(monomorph::read_text_file(tokenizer_fixture("part_cases.json")));
  std::mt19937 random(1);
  const TemporaryFolder folder;
  for (const auto& [name, configuration] : cases["encoding"].items()) {
    INFO(name);
    json tokenizer = configuration["tokenizer"];
    if (tokenizer["model"] == "bytes") tokenizer["model"] = cases["bytes"];
    const Tokenizer subject(read_tokenizer_definition(folder.write("tokenizer.json", tokenizer.dump())));
    check_pieces(subject, 300, random);
  }
}

TEST_CASE("Tokenizers like the well-known ones encode a long text in pieces") {
  std::mt19937 random(2);
  const std::string text =
      monomorph::read_text_file(std::string(MONOMORPH_SOURCE_DIR) + "/data/tinyshakespeare.txt").substr(0, 300'000);
  for (const char* name : {"llama2", "mistral", "bert", "t5", "qwen2", "llama3"}) {
    INFO(name);
    const Tokenizer tokenizer(read_tokenizer_definition(tokenizer_fixture(std::string(name) + ".json")));
    check_pieces(tokenizer, 2000, random);
    const auto [ids, n_decided] = encode_in_pieces(tokenizer, text, 3000, random);
    CHECK((ids == tokenizer.encode(text)));
    CHECK(n_decided > text.size() - 3000);
  }
}
