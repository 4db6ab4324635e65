// Which tokens may be next in a text that must be something, and texts that are made so.
#include "train/inference/constraint.hpp"

#include "grammar_texts.hpp"
#include "train/serve/scheduler.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include <random>

using namespace monomorph;
using namespace monomorph::train;
using monomorph::train::testing::accepts;
using monomorph::train::testing::grammar_of_schema;
using nlohmann::json;

namespace {

const char* const schema_of_things =
    R"({"type": "object", "properties": {"name": {"type": "string"}, "note é": {"type": "string", "minLength": 1, "maxLength": 6},
        "n": {"type": "integer", "minimum": -20, "maximum": 300}, "tags": {"type": "array", "items": {"enum": ["a", "ab", "é", "日本"]}, "maxItems": 3},
        "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}, {"type": "array", "items": {}}]}},
        "required": ["name", "n"], "additionalProperties": {"type": "boolean"}})";

std::unique_ptr<const data::Tokenizer> tokenizer_of(const std::string& name) {
  return data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/tokenizers/" + name + ".json");
}

/// The vocabulary of a tokeniser, whose last token ends a text.
struct Words {
  std::unique_ptr<const data::Tokenizer> tokenizer;
  std::int32_t stop;
  std::shared_ptr<const ConstrainedVocabulary> vocabulary;

  explicit Words(const std::string& name)
      : tokenizer(tokenizer_of(name)),
        stop(tokenizer->vocab_size() - 1),
        vocabulary(std::make_shared<const ConstrainedVocabulary>(*tokenizer, std::vector<std::int32_t>{stop})) {}

  std::shared_ptr<const Constraint> constraint(ByteGrammar grammar) const {
    return std::make_shared<const Constraint>(vocabulary, std::move(grammar));
  }
};

/// Whether a text can begin so, and go on to an end.
bool can_begin(const ByteGrammar& grammar, std::string_view text) {
  GrammarWalk walk(grammar);
  std::vector<GrammarWalk::Place> places;
  walk.begin(places);
  for (const char byte : text) {
    const std::size_t n = places.size();
    walk.step(places, 0, n, static_cast<std::uint8_t>(byte));
    places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return !places.empty();
}

/// Draws tokens that may be next until the text ends, or has so many, often those that end something; `check` is called
/// before each.
template <class Check>
std::string written(const Words& words, const std::shared_ptr<const Constraint>& constraint, std::mt19937& random,
                    int most_tokens, const Check& check) {
  ConstrainedText text(constraint);
  std::string bytes;
  for (int i = 0; i < most_tokens && !text.ended(); ++i) {
    const TokenSet& allowed = text.allowed();
    check(bytes, allowed);
    std::vector<std::int32_t> ids, ends;
    for (std::int32_t id = 0; id < words.tokenizer->vocab_size(); ++id) {
      if (!allowed.has(id)) continue;
      ids.push_back(id);
      if (words.vocabulary->text(id).find_first_of("\"]}") != std::string::npos) ends.push_back(id);
    }
    REQUIRE_FALSE(ids.empty());
    const auto& choice = ends.empty() || random() % 4 == 0 ? ids : ends;
    const std::int32_t id = choice[random() % choice.size()];
    if (id == words.stop) return bytes;
    bytes += words.vocabulary->text(id);
    text.accept(id);
  }
  return text.complete() ? bytes : "";
}

/// A model whose logits are random, and the same for the same tokens whatever else is in a pass.
class RandomPass final : public TokenPass {
 public:
  explicit RandomPass(std::int64_t n_ids) : n_ids_(n_ids), logits_(static_cast<std::size_t>(sizes().wanted * n_ids)) {}
  PassSizes sizes() const override { return {.tokens = 64, .wanted = 16, .sequences = 16, .pages = 512}; }
  PassLimits limits() const override { return {512, n_ids_}; }
  View run(const NewTokens& tokens) override {
    for (std::size_t i = 0; i < tokens.wanted.size(); ++i) {
      const auto before = static_cast<std::uint64_t>(tokens.ids_B[tokens.wanted[i]]);
      for (std::int64_t id = 0; id < n_ids_; ++id) {
        const std::uint64_t mixed =
            (before * 0x9E3779B97F4A7C15u + static_cast<std::uint64_t>(id) + 1) * 0xD1342543DE82EF95u;
        logits_[i * static_cast<std::size_t>(n_ids_) + static_cast<std::size_t>(id)] =
            static_cast<float>((mixed >> 40) % 1000) / 100.0f;
      }
    }
    return {reinterpret_cast<std::byte*>(logits_.data()), DType::fp32, {std::ssize(tokens.wanted), n_ids_}};
  }

 private:
  std::int64_t n_ids_;
  std::vector<float> logits_;
};

struct Finished {
  std::string text;
  std::int64_t drawn = 0;
  std::optional<FinishReason> finish{};
  std::vector<ScoredToken> scored{};
};

/// What becomes of texts that run together: one for each constraint, null for none.
std::vector<Finished> finished(const Words& words, const std::vector<std::shared_ptr<const Constraint>>& constraints,
                               std::int64_t most_tokens, double temperature) {
  Session session(make_owned<RandomPass>(words.tokenizer->vocab_size()));
  Scheduler scheduler(session, *words.tokenizer, 100);
  const auto events = std::make_shared<TextEvents>();
  std::vector<ServedText> texts;
  for (const auto& constraint : constraints)
    texts.push_back({.index = texts.size(),
                     .request = {{5}, {0, static_cast<std::uint32_t>(texts.size())}},
                     .settings = {.max_tokens = most_tokens,
                                  .sampling = {.temperature = temperature, .seed = 3},
                                  .stop_ids = {words.stop},
                                  .constraint = constraint},
                     .log_probabilities = 0,
                     .events = events});
  REQUIRE(scheduler.submit(std::move(texts)));
  scheduler.run([&] { return scheduler.unfinished() == 0; });
  std::vector<Finished> results(constraints.size());
  while (const auto event = events->next(std::chrono::steady_clock::now())) {
    CHECK(event->failure == "");
    Finished& result = results[event->text];
    result.text += event->more;
    result.drawn += event->drawn;
    result.scored.insert(result.scored.end(), event->scored.begin(), event->scored.end());
    if (event->finish) result.finish = event->finish;
  }
  return results;
}

}  // namespace

TEST_CASE("tokens that may be next are those whose bytes a grammar lets come next") {
  for (const char* const name : {"qwen2", "llama3", "llama2", "mistral"}) {
    CAPTURE(name);
    const Words words(name);
    REQUIRE(words.vocabulary->spells_json());
    std::mt19937 random(11);
    for (const bool any_object : {false, true}) {
      const ByteGrammar grammar =
          any_object ? grammar_of({.document = WantedText::Document{}}) : grammar_of_schema(schema_of_things);
      const auto constraint = words.constraint(grammar);
      for (int i = 0; i < 4; ++i) {
        const auto check = [&](const std::string& before, const TokenSet& allowed) {
          for (std::int32_t id = 0; id < words.tokenizer->vocab_size(); ++id) {
            const std::string& bytes = words.vocabulary->text(id);
            const bool may =
                id == words.stop ? accepts(grammar, before) : !bytes.empty() && can_begin(grammar, before + bytes);
            if (may != allowed.has(id)) FAIL_CHECK(before << " then " << id << ' ' << words.tokenizer->token_of(id));
          }
        };
        written(words, constraint, random, 12, check);
      }
    }
  }
}

TEST_CASE("texts of tokens that may be next are valid JSON in valid UTF-8, with characters of several tokens") {
  for (const char* const name : {"qwen2", "llama2"}) {
    const Words words(name);
    const auto constraint = words.constraint(grammar_of_schema(schema_of_things));
    std::mt19937 random(5);
    int n_texts = 0, n_in_pieces = 0;
    for (int i = 0; i < 300; ++i) {
      const std::string text = written(words, constraint, random, 200, [](const std::string&, const TokenSet&) {});
      if (text.empty()) continue;
      CAPTURE(text);
      const json value = json::parse(text, nullptr, false);
      REQUIRE(value.is_object());
      CHECK(value["name"].is_string());
      CHECK((value["n"] >= -20 && value["n"] <= 300));
      ++n_texts;
      n_in_pieces += text.find_first_of("\xF0\xF1\xF2\xF3\xF4") != std::string::npos;
    }
    CHECK(n_texts > 10);
    if (name == std::string("qwen2")) CHECK(n_in_pieces > 0);
  }
}

TEST_CASE("a vocabulary that lacks single bytes cannot spell all JSON") {
  const auto tokenizer = tokenizer_of("bert");
  CHECK_FALSE(ConstrainedVocabulary(*tokenizer, {}).spells_json());
}

TEST_CASE("texts that must be something run beside others, which stay as they are") {
  const Words words(GENERATE("qwen2", "llama2"));
  const auto constraint = words.constraint(grammar_of_schema(
      R"({"type": "object", "properties": {"a": {"type": "integer", "maximum": 99, "minimum": 0}, "b": {"enum": ["x", "yes"]}},
          "required": ["a", "b"], "additionalProperties": false})"));
  const std::vector<std::shared_ptr<const Constraint>> mixed{constraint, nullptr, constraint, nullptr};
  for (const double temperature : {0.0, 1.0}) {
    const auto together = finished(words, mixed, 300, temperature);
    const auto alone = finished(words, {nullptr, nullptr, nullptr, nullptr}, 300, temperature);
    for (const std::size_t i : {1, 3}) {
      CHECK(together[i].text == alone[i].text);
      CHECK(together[i].finish == alone[i].finish);
    }
    for (const std::size_t i : {0, 2}) {
      CAPTURE(together[i].text);
      CHECK(together[i].finish == FinishReason::stop);
      CHECK(json::parse(together[i].text).at("b").is_string());
      CHECK(std::ssize(together[i].scored) == together[i].drawn);
      // Of the model itself, which finds what was drawn one of many.
      for (const ScoredToken& token : together[i].scored) CHECK(token.candidates.front().probability < -0.5);
    }
    CHECK(together[0].text == finished(words, {constraint}, 300, temperature)[0].text);
  }
}

TEST_CASE("a text ends where it is complete, and where its tokens are used up") {
  const Words words("qwen2");
  const auto fixed = words.constraint(grammar_of_schema(R"({"const": "abc"})"));
  const Finished whole = finished(words, {fixed}, 60, 1)[0];
  CHECK(whole.text.ends_with("\"abc\""));
  CHECK(whole.finish == FinishReason::stop);
  // Nothing can follow, so that no token is spent on the end.
  const Finished exact = finished(words, {fixed}, whole.drawn, 1)[0];
  CHECK(exact.text == whole.text);
  CHECK(exact.finish == FinishReason::stop);
  const Finished cut = finished(words, {fixed}, whole.drawn - 1, 1)[0];
  CHECK(cut.finish == FinishReason::length);
  CHECK(whole.text.starts_with(cut.text));
  // A number may be complete and go on: there the model ends it.
  const Finished number = finished(words, {words.constraint(grammar_of_schema(R"({"type": "integer"})"))}, 60, 1)[0];
  CHECK(number.finish == FinishReason::stop);
  CHECK(json::parse(number.text).is_number_integer());
}

TEST_CASE("a text with too many ways to go on at once ends with an error") {
  const Words words("qwen2");
  std::string alternatives;
  for (int i = 0; i < 500; ++i)
    alternatives += fmt::format(R"({}{{"type": "object", "properties": {{"a": {{}}, "b": {{"const": {}}}}}}})",
                                i == 0 ? "" : ",", i);
  const auto constraint = words.constraint(grammar_of_schema("{\"anyOf\":[" + alternatives + "]}"));
  const auto allow = [&](std::int64_t most_work) {
    ConstrainedText text(constraint, most_work);
    for (const char byte : std::string("{\"a\":\"b")) {
      text.allowed();
      text.accept(words.tokenizer->encode(std::string(1, byte)).front());
    }
    text.allowed();
  };
  allow(ConstrainedText::usual_work);
  CHECK(monomorph::testing::error_of([&] { allow(1000); }).find("[SERVE-05]") != std::string::npos);
}
