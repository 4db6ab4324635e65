#include "unit/data/adversarial_strings.hpp"
#include "unit/data/data_test_support.hpp"

#include <monomorph/core/xxh64.hpp>
#include <monomorph/data/text/utf8.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <functional>
#include <iostream>
#include <sstream>
#include <stdexcept>

// What very many texts become, against hashes of what the reference makes of them; make_equality.py says what the
// parts and batches are, and shows one (--list) to compare with what the test case "list" shows.

using namespace monomorph::data;
using nlohmann::json;
using Ids = std::vector<std::int32_t>;

namespace {

constexpr const char* names[] = {"gpt2", "llama3", "qwen2",         "llama2",   "mistral",
                                 "bert", "t5",     "unigram.model", "bpe.model"};

struct Batch {
  std::string name, part;
  std::uint64_t number;
  std::size_t n_texts;
  std::string ids_hash, texts_hash;
};

const std::vector<Batch>& expected_batches() {
  static const std::vector<Batch> batches = [] {
    std::vector<Batch> result;
    std::istringstream lines(monomorph::read_text_file(tokenizer_fixture("equality.txt")));
    for (Batch b; lines >> b.name >> b.part >> b.number >> b.n_texts >> b.ids_hash >> b.texts_hash;)
      result.push_back(b);
    return result;
  }();
  return batches;
}

/// One of the tokenisers, with the strings made for it.
class Subject {
 public:
  explicit Subject(const std::string& name)
      : number_(static_cast<std::uint64_t>(std::find(std::begin(names), std::end(names), name) - std::begin(names))),
        path_(name == "gpt2" ? fixture("gpt2_tokenizer.json")
                             : tokenizer_fixture(name + (is_library() ? "" : ".json"))),
        tokenizer_(read_tokenizer(path_)),
        encoder_(*tokenizer_),
        strings_(shakespeare(), special_tokens()) {}

  const Tokenizer& tokenizer() const { return *tokenizer_; }

  Ids encode(const std::string& text, const std::string& part, std::size_t number) {
    Ids ids;
    if (part == "plain") {
      encoder_.encode_plain(text, ids);
    } else {
      encoder_.encode(text, ids, number % 2 == 1 && !is_library() ? SpecialTokens::around_text : SpecialTokens::none);
    }
    return ids;
  }

  std::vector<std::string> texts(const std::string& part, std::uint64_t batch) const;

 private:
  bool is_library() const { return number_ >= 7; }

  std::vector<std::string> special_tokens() const {
    if (is_library()) return {"<s>", "</s>", "<unk>", "<sep>", "<|x|>", "<c>", "<0x41>"};
    std::vector<std::string> result;
    const json file = json::parse(monomorph::read_text_file(path_));
    for (const json& token : file["added_tokens"]) result.push_back(token["content"].get<std::string>());
    return result;
  }

  std::uint64_t number_;
  std::string path_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  Encoder encoder_;
  AdversarialStrings strings_;
};

std::vector<std::string> code_points(std::uint64_t batch) {
  constexpr char32_t n = 4096;
  std::vector<std::string> result;
  for (const bool alone : {true, false}) {
    for (auto c = static_cast<char32_t>(batch) * n; c < (static_cast<char32_t>(batch) + 1) * n; ++c) {
      if (c >= 0xD800 && c < 0xE000) continue;
      result.push_back(alone ? utf8_of(c) : "a" + utf8_of(c) + "b");
    }
  }
  return result;
}

/// MONOMORPH_NOVELS names novels.jsonl, which the repository does not hold.
std::vector<std::string> novels(std::uint64_t batch) {
  const char* const path = std::getenv("MONOMORPH_NOVELS");
  if (path == nullptr) throw std::runtime_error("MONOMORPH_NOVELS is not set");
  std::istringstream lines(monomorph::read_text_file(path));
  std::vector<std::string> result;
  std::uint64_t number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    if (number / 100 == batch) result.push_back(json::parse(line)["text"].get<std::string>());
  }
  return result;
}

std::vector<std::string> Subject::texts(const std::string& part, std::uint64_t batch) const {
  if (part == "code_points") return code_points(batch);
  if (part == "novels") return novels(batch);
  std::vector<std::string> result;
  if (part == "random" || part == "plain") {
    const std::uint64_t first = (number_ << 32) + (part == "plain" ? std::uint64_t{1} << 31 : 0) + 1000 * batch;
    for (std::uint64_t seed = first; seed < first + 1000; ++seed) result.push_back(strings_.string(seed));
    return result;
  }
  std::istringstream lines(shakespeare());
  for (std::string line; std::getline(lines, line);) result.push_back(line + "\n");
  result.push_back(shakespeare());
  return result;
}

std::string hexadecimal(const monomorph::Xxh64& hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(hash.digest()));
  return text;
}

/// All the pieces of a text that is decoded id by id are complete, and together the text.
void check_streaming(const Tokenizer& tokenizer, const Ids& ids, bool skip_special, const std::string& text) {
  StreamDecoder stream(tokenizer, skip_special);
  std::string all;
  for (const std::int32_t id : ids) {
    const std::string piece = stream.push(id);
    if (valid_utf8_prefix(piece) != piece.size()) FAIL("a broken character: " << json(piece));
    all += piece;
  }
  all += stream.finish();
  if (all != text) CHECK(all == text);
}

/// A text that comes in two pieces has the ids of the whole.
void check_pieces(const Tokenizer& tokenizer, const std::string& text, std::size_t cut, const Ids& expected) {
  Encoder encoder(tokenizer);
  const std::string beginning = text.substr(0, complete_utf8_prefix(std::string_view(text).substr(0, cut)));
  Ids ids;
  const std::size_t n_decided = encoder.encode_decided(beginning, ids, TextPiece::first);
  encoder.encode_rest(text.substr(n_decided), ids, n_decided == 0 ? TextPiece::first : TextPiece::later);
  if (ids != expected) CHECK(json(ids) == json(expected));
}

void check(Subject& subject, const Batch& expected) {
  INFO(expected.name << " " << expected.part << " " << expected.number);
  const auto texts = subject.texts(expected.part, expected.number);
  REQUIRE(texts.size() == expected.n_texts);
  monomorph::Xxh64 ids_hash, texts_hash;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Ids ids = subject.encode(texts[i], expected.part, i);
    if (i % 3 == 0) {
      const bool skip_special = i / 3 % 2 == 1;
      const std::string decoded = subject.tokenizer().decode(ids, skip_special);
      if (i % 12 == 0) {
        INFO(i);
        check_streaming(subject.tokenizer(), ids, skip_special, decoded);
        if (expected.part == "random") check_pieces(subject.tokenizer(), texts[i], i % (texts[i].size() + 1), ids);
      }
      texts_hash.update(bytes_of(decoded + "\xFF"));
    }
    ids.push_back(-1);
    ids_hash.update(std::as_bytes(std::span(ids)));
  }
  CHECK(hexadecimal(ids_hash) == expected.ids_hash);
  CHECK(hexadecimal(texts_hash) == expected.texts_hash);
}

/// Checks the batches of `name` that `wanted` says; returns the number of texts.
std::size_t check_batches(const std::string& name, const std::function<bool(const Batch&)>& wanted) {
  Subject subject(name);
  std::size_t n_texts = 0;
  for (const Batch& batch : expected_batches()) {
    if (batch.name != name || !wanted(batch)) continue;
    check(subject, batch);
    n_texts += batch.n_texts;
  }
  return n_texts;
}

}  // namespace

TEST_CASE("Every tokeniser makes of texts what the reference does") {
  const std::string name = GENERATE(from_range(std::begin(names), std::end(names)));
  const bool of_library = name.ends_with(".model");
  const std::size_t n_texts = check_batches(name, [&](const Batch& batch) {
    const bool every_code_point = name == "gpt2" || name == "t5";
    if (batch.part == "code_points") return every_code_point || batch.number % 16 == 0;
    return (batch.part == "random" && batch.number < (of_library ? 1 : 8)) ||
           (batch.part == "plain" && batch.number == 0) || batch.part == "shakespeare";
  });
  CHECK(n_texts > 40000);
}

TEST_CASE("All texts", "[.exhaustive]") {
  std::size_t n_texts = 0;
  for (const std::string name : names) {
    const std::size_t n = check_batches(name, [](const Batch& batch) {
      return batch.part != "novels" || std::getenv("MONOMORPH_NOVELS") != nullptr;
    });
    std::cout << name << ": " << n << " texts\n";
    n_texts += n;
  }
  CHECK(n_texts > 27'000'000);
}

// MONOMORPH_BATCH="llama3 random 17"
TEST_CASE("list", "[.list]") {
  std::string name, part;
  std::uint64_t number = 0;
  const char* const batch = std::getenv("MONOMORPH_BATCH");
  if (batch == nullptr) FAIL("MONOMORPH_BATCH is not set");
  std::istringstream(batch) >> name >> part >> number;
  Subject subject(name);
  const auto texts = subject.texts(part, number);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    std::cout << i << " " << json(texts[i]).dump();
    const Ids ids = subject.encode(texts[i], part, i);
    for (const std::int32_t id : ids) std::cout << " " << id;
    if (i % 3 == 0) std::cout << " " << json(subject.tokenizer().decode(ids, i / 3 % 2 == 1)).dump();
    std::cout << "\n";
  }
}
