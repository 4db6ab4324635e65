#pragma once
#include "train/inference/call_grammar.hpp"
#include "train/inference/schema_grammar.hpp"

#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// What is asked of a text: to be a JSON document, or calls of tools, or either.
struct WantedText {
  enum class Calls {
    none,
    as_liked,  ///< text or calls; a document or calls, if a document is asked for
    one,
    some,  ///< at least one
  };
  struct Document {
    std::optional<GivenSchema> schema;  ///< absent: any object
  };
  struct Tool {
    std::string name;
    std::optional<GivenSchema> arguments;  ///< absent: any object
    bool strict;  ///< otherwise they are any object, too, where something in the schema is not supported
  };

  std::optional<Document> document{};
  Calls calls = Calls::none;
  CallForm form{};
  std::vector<Tool> tools{};
};

/// @throws SchemaError, whose path begins with a schema's place: it cannot be kept to, or nothing is valid by it
ByteGrammar grammar_of(const WantedText& wanted);

}  // namespace monomorph::train
