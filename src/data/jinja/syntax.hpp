#pragma once
#include <monomorph/data/jinja/value.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace monomorph::data::jinja {

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;
struct Statement;
using Body = std::vector<Statement>;

struct CallArguments {
  std::vector<ExpressionPtr> positional;
  std::vector<std::pair<std::string, ExpressionPtr>> named;
  ExpressionPtr more_positional, more_named;  ///< *these and **these
};

struct Literal {
  Value value;
};
struct Name {
  std::string name;
};
struct SequenceLiteral {
  std::vector<ExpressionPtr> items;
  bool is_tuple;
};
struct DictLiteral {
  std::vector<std::pair<ExpressionPtr, ExpressionPtr>> items;
};
struct AttributeOf {
  ExpressionPtr object;
  std::string name;
};
struct ItemOf {
  ExpressionPtr object, key;
};
struct Slice {
  ExpressionPtr object, start, stop, step;
};
struct Call {
  ExpressionPtr callee;
  CallArguments arguments;
};
struct Filter {
  ExpressionPtr object;  ///< nothing: what a block renders
  std::string name;
  CallArguments arguments;
};
struct Test {
  ExpressionPtr object;
  std::string name;
  CallArguments arguments;
};
enum class UnaryOperator : std::uint8_t { negative, positive, negation };
struct Unary {
  UnaryOperator op;
  ExpressionPtr operand;
};
enum class BinaryOperator : std::uint8_t { add, subtract, multiply, divide, floor_divide, modulo, power };
struct Binary {
  BinaryOperator op;
  ExpressionPtr left, right;
};
enum class Comparator : std::uint8_t { equal, unequal, less, less_equal, greater, greater_equal, in, not_in };
struct Comparison {
  ExpressionPtr first;
  std::vector<std::pair<Comparator, ExpressionPtr>> others;
};
struct Logical {
  bool is_and;
  ExpressionPtr left, right;
};
struct Concatenation {
  std::vector<ExpressionPtr> parts;
};
struct Conditional {
  ExpressionPtr condition, then, otherwise;  ///< otherwise may be nothing
};

struct Expression {
  using Form = std::variant<Literal, Name, SequenceLiteral, DictLiteral, AttributeOf, ItemOf, Slice, Call, Filter, Test,
                            Unary, Binary, Comparison, Logical, Concatenation, Conditional>;
  Form form;
  int line;
  int height;  ///< levels of expressions in it
};

/// What is assigned to: a name, an attribute of a namespace, or several of these.
struct Target {
  std::string name, attribute;
  std::vector<Target> parts;  ///< not empty: of a tuple
  bool is_tuple = false;
};

struct Parameter {
  std::string name;
  ExpressionPtr fallback;
};

/// The body of a macro or of a call block.
struct MacroBody {
  std::string name;
  std::vector<Parameter> parameters;
  Body body;
  bool reads_varargs = false, reads_kwargs = false, reads_caller = false;
};

struct TextStatement {
  std::string text;
};
struct Output {
  ExpressionPtr value;
};
struct If {
  std::vector<std::pair<ExpressionPtr, Body>> branches;
  Body otherwise;
};
struct For {
  Target target;
  ExpressionPtr items, condition;  ///< condition may be nothing
  Body body, otherwise;
  bool is_recursive;
};
struct Set {
  Target target;
  ExpressionPtr value;
};
struct SetBlock {
  Target target;
  ExpressionPtr filter;  ///< may be nothing
  Body body;
};
struct Macro {
  std::shared_ptr<const MacroBody> macro;
};
struct CallBlock {
  ExpressionPtr call;
  std::shared_ptr<const MacroBody> body;
};
struct FilterBlock {
  ExpressionPtr filter;
  Body body;
};
struct With {
  std::vector<std::pair<Target, ExpressionPtr>> values;
  Body body;
};
struct Generation {
  Body body;
};
struct Break {};
struct Continue {};

struct Statement {
  using Form = std::variant<TextStatement, Output, If, For, Set, SetBlock, Macro, CallBlock, FilterBlock, With,
                            Generation, Break, Continue>;
  Form form;
  int line;
};

/// A template that was read.
struct Program {
  Body body;
  bool marks_generation = false;
};

}  // namespace monomorph::data::jinja
