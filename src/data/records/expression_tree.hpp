#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace monomorph::data::expression {

/// What an expression asks for at one place.
enum class Operation {
  either,    ///< children: conditions
  both,      ///< children: conditions
  negation,  ///< child: a condition
  is_true,   ///< child: a value
  exists,    ///< child: a field
  contains,  ///< children: a value, and what is looked for in it
  equal,     ///< children: two values, as for the five below
  unequal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  length,   ///< child: a value
  field,    ///< has `index`, into Tree::fields
  literal,  ///< has `index`, into Tree::literals
};

struct Node {
  Operation operation;
  std::vector<Node> children;
  std::size_t index = 0;
};

struct Field {
  std::string pointer;  ///< a JSON Pointer
  bool compared;        ///< not only asked to exist
};

/// null, a truth value, a number or a text, as JSON writes it.
using Literal = std::variant<std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string>;

struct Tree {
  Node root;
  std::vector<Field> fields;
  std::vector<Literal> literals;
};

/// @throws [DATA-43]
Tree parse(std::string_view text);

}  // namespace monomorph::data::expression
