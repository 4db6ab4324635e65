#pragma once
#include "train/inference/grammar_walk.hpp"
#include "train/inference/wanted_text.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace monomorph::train::testing {

/// Whether a text can be written, and can end there.
inline bool accepts(const ByteGrammar& grammar, std::string_view text) {
  GrammarWalk walk(grammar);
  std::vector<GrammarWalk::Place> places;
  walk.begin(places);
  for (const char byte : text) {
    const std::size_t n = places.size();
    walk.step(places, 0, n, static_cast<std::uint8_t>(byte));
    places.erase(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(n));
  }
  return walk.complete(places);
}

/// Of documents that are valid by a schema.
inline ByteGrammar grammar_of_schema(const std::string& schema) {
  const auto tree = json_tree_of(schema);
  if (!tree) throw std::invalid_argument("no JSON: " + schema);
  return grammar_of({.document = WantedText::Document{GivenSchema{&*tree, "schema"}}});
}

/// Where a schema is refused, how and why; "" if it is not.
inline std::string refusal_of_schema(const std::string& schema) {
  try {
    grammar_of_schema(schema);
  } catch (const SchemaError& error) {
    return error.path() + (error.why() == SchemaError::Why::wrong ? " (wrong) " : " (unsupported) ") + error.what();
  }
  return "";
}

}  // namespace monomorph::train::testing
