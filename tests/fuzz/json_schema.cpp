// JSON schemas, which say what a text must be: whatever is written by an accepted one is JSON.
#include "train/inference/grammar_walk.hpp"
#include "train/inference/wanted_text.hpp"

#include <nlohmann/json.hpp>

#include <random>

#include "harness.hpp"

using namespace monomorph;

namespace {

constexpr int most_bytes = 400;

/// A text by one of the ways through a grammar; empty if it is not complete soon.
std::string written_by(const train::ByteGrammar& grammar, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  train::GrammarWalk walk(grammar);
  std::vector<train::GrammarWalk::Place> places;
  walk.begin(places);
  std::string text;
  while (text.size() < most_bytes && !(walk.complete(places) && random() % 4 == 0)) {
    const std::size_t n = places.size();
    const auto first = static_cast<int>(random() % 256);
    int tried = 0;
    for (; tried < 256 && places.size() == n; ++tried)
      walk.step(places, 0, n, static_cast<std::uint8_t>(first + tried));
    if (places.size() == n) break;  // it is complete, and nothing can follow
    text += static_cast<char>(first + tried - 1);
    places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return walk.complete(places) ? text : "";
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto schema = train::json_tree_of(fuzz::as_text(data, size));
  if (!schema) return 0;
  fuzz::require(train::json_tree_of(schema->dump()).has_value(), "JSON that is written is JSON");
  try {
    const auto grammar =
        train::grammar_of({.document = train::WantedText::Document{train::GivenSchema{&*schema, "schema"}}});
    for (std::uint64_t seed = 0; seed < 2; ++seed)
      if (const std::string text = written_by(grammar, seed + size); !text.empty())
        fuzz::require(nlohmann::json::accept(text), "what is written by a schema is JSON");
  } catch (const train::SchemaError& error) {
    fuzz::require(std::string_view(error.what()).find('\n') == std::string_view::npos, "an error is one line");
    fuzz::require(error.path().starts_with("schema"), "an error says where in the schema it is");
  }
  return 0;
}
