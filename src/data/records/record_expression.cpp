#include "data/records/expression_tree.hpp"
#include "data/records/json_line_parser.hpp"
#include "data/records/line_block.hpp"
#include "data/records/line_failure.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/records/record_expression.hpp>

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <compare>
#include <optional>
#include <utility>

namespace monomorph::data {
namespace {

using expression::Node;
using expression::Operation;
using simdjson::dom::element;

struct Missing {};
struct Compound {};  ///< an array or an object: equal to nothing
/// What stands at one side of a comparison.
using Value =
    std::variant<Missing, Compound, std::nullptr_t, bool, std::int64_t, std::uint64_t, double, std::string_view>;

struct NumbersAreLost {};

/// @throws NumbersAreLost if it is a number, and those of its record are not kept
Value value_of(const element& json, bool numbers_are_kept) {
  if (!numbers_are_kept && json.is_number()) throw NumbersAreLost{};
  switch (json.type()) {
    case simdjson::dom::element_type::NULL_VALUE:
      return nullptr;
    case simdjson::dom::element_type::BOOL:
      return json.get_bool().value_unsafe();
    case simdjson::dom::element_type::INT64:
      return json.get_int64().value_unsafe();
    case simdjson::dom::element_type::UINT64:
      return json.get_uint64().value_unsafe();
    case simdjson::dom::element_type::DOUBLE:
      return json.get_double().value_unsafe();
    case simdjson::dom::element_type::STRING:
      return json.get_string().value_unsafe();
    default:
      return Compound{};
  }
}

std::uint64_t n_characters(std::string_view text) {
  std::uint64_t n = 0;
  for (const char byte : text) n += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  return n;
}

/// Compares numbers of any two types by their values.
template <class Left, class Right> std::partial_ordering compare_numbers(Left left, Right right) {
  if constexpr (std::is_integral_v<Left> && std::is_integral_v<Right>) {
    return std::cmp_less(left, right)    ? std::partial_ordering::less
           : std::cmp_equal(left, right) ? std::partial_ordering::equivalent
                                         : std::partial_ordering::greater;
  } else {
    return static_cast<long double>(left) <=> static_cast<long double>(right);
  }
}

/// How two values stand to each other; unordered if they are of different kinds.
std::partial_ordering compare(const Value& left, const Value& right) {
  return std::visit(
      [](const auto& a, const auto& b) -> std::partial_ordering {
        using A = std::decay_t<decltype(a)>;
        using B = std::decay_t<decltype(b)>;
        constexpr bool are_numbers =
            std::is_arithmetic_v<A> && std::is_arithmetic_v<B> && !std::is_same_v<A, bool> && !std::is_same_v<B, bool>;
        if constexpr (are_numbers) {
          return compare_numbers(a, b);
        } else if constexpr (std::is_same_v<A, std::string_view> && std::is_same_v<B, std::string_view>) {
          return a.compare(b) <=> 0;
        } else if constexpr (std::is_same_v<A, bool> && std::is_same_v<B, bool>) {
          return a == b ? std::partial_ordering::equivalent : std::partial_ordering::unordered;
        } else if constexpr (std::is_same_v<A, std::nullptr_t> && std::is_same_v<B, std::nullptr_t>) {
          return std::partial_ordering::equivalent;
        } else {
          return std::partial_ordering::unordered;
        }
      },
      left, right);
}

}  // namespace

struct RecordExpression::State {
  expression::Tree tree;
  std::vector<FieldPointer> pointers;  ///< by field
  std::vector<bool> found;             ///< by field
  JsonLineParser parser;
  std::string padded;  ///< the line, with what the parser wants to follow it
  bool numbers_are_kept = true;

  std::optional<element> find(const Node& field, element record) const {
    if (!find_field(record, pointers[field.index])) return std::nullopt;
    return record;
  }

  /// Notes which fields the record has, also those that the condition is decided without.
  void note_fields(const element& record) {
    for (std::size_t i = 0; i < found.size(); ++i) {
      element json = record;
      if (!found[i]) found[i] = find_field(json, pointers[i]);
    }
  }

  Value value(const Node& node, const element& record) const {
    if (node.operation == Operation::field) {
      const auto json = find(node, record);
      return json ? value_of(*json, numbers_are_kept) : Value{Missing{}};
    }
    if (node.operation == Operation::length) return length(node.children[0], record);
    return std::visit([](const auto& literal) -> Value { return literal; }, tree.literals[node.index]);
  }

  Value length(const Node& node, const element& record) const {
    if (node.operation == Operation::field) {
      const auto json = find(node, record);
      if (json && json->is_array()) return std::uint64_t{json->get_array().value_unsafe().size()};
      if (json && json->is_object()) return std::uint64_t{json->get_object().value_unsafe().size()};
    }
    const Value whole = value(node, record);
    if (const auto* text = std::get_if<std::string_view>(&whole)) return n_characters(*text);
    return Missing{};
  }

  /// A text in a text, a value in an array, or a name in an object.
  bool contains(const Node& node, const element& record) const {
    const Value part = value(node.children[1], record);
    const auto* text = std::get_if<std::string_view>(&part);
    if (node.children[0].operation == Operation::field) {
      const auto json = find(node.children[0], record);
      if (json && json->is_array()) {
        const simdjson::dom::array members = json->get_array();
        for (const element member : members) {
          if (std::is_eq(compare(value_of(member, numbers_are_kept), part))) return true;
        }
        return false;
      }
      if (json && json->is_object()) {
        return text != nullptr && json->get_object().value_unsafe().at_key(*text).error() == simdjson::SUCCESS;
      }
    }
    const Value whole = value(node.children[0], record);
    const auto* searched = std::get_if<std::string_view>(&whole);
    return searched != nullptr && text != nullptr && searched->find(*text) != std::string_view::npos;
  }

  std::partial_ordering order(const Node& node, const element& record) const {
    return compare(value(node.children[0], record), value(node.children[1], record));
  }

  bool holds(const Node& node, const element& record) const {
    switch (node.operation) {
      case Operation::either:
        return std::any_of(node.children.begin(), node.children.end(),
                           [&](const Node& child) { return holds(child, record); });
      case Operation::both:
        return std::all_of(node.children.begin(), node.children.end(),
                           [&](const Node& child) { return holds(child, record); });
      case Operation::negation:
        return !holds(node.children[0], record);
      case Operation::is_true:
        return std::is_eq(compare(value(node.children[0], record), Value{true}));
      case Operation::exists:
        return find(node.children[0], record).has_value();
      case Operation::contains:
        return contains(node, record);
      case Operation::equal:
        return std::is_eq(order(node, record));
      case Operation::unequal:
        return std::is_neq(order(node, record));
      case Operation::less:
        return std::is_lt(order(node, record));
      case Operation::less_or_equal:
        return std::is_lteq(order(node, record));
      case Operation::greater:
        return std::is_gt(order(node, record));
      case Operation::greater_or_equal:
        return std::is_gteq(order(node, record));
      default:
        return false;  // the parser accepts no value as a condition, so none comes here
    }
  }
};

RecordExpression::RecordExpression(std::string_view text) : state_(std::make_unique<State>()) {
  state_->tree = expression::parse(text);
  for (const expression::Field& field : state_->tree.fields) state_->pointers.emplace_back(field.pointer);
  state_->found.resize(state_->pointers.size());
}

RecordExpression::RecordExpression(RecordExpression&&) noexcept = default;
RecordExpression& RecordExpression::operator=(RecordExpression&&) noexcept = default;
RecordExpression::~RecordExpression() = default;

bool RecordExpression::holds(const Line& line, const std::string& path) {
  const auto refuse = [&](const LineProblem& problem) {
    throw Error(problem.id,
                fmt::format("{}, line {} (byte {}): {}{}", in_quotes(path), line.number, line.offset, problem.reason,
                            problem.id == "DATA-02" ? "; every line must be one JSON value" : ""));
  };
  if (line.n_bytes > longest_line_bytes) refuse(too_long_failure(line.offset, line.offset + line.n_bytes).problem);
  State& state = *state_;
  state.padded.assign(line.text).append(LineBlock::padding_bytes, '\0');
  const std::string_view text = std::string_view(state.padded).substr(0, line.text.size());
  bool result = false;
  try {
    const auto problem = state.parser.visit(text, [&](const element& record, bool numbers_are_kept) {
      state.numbers_are_kept = numbers_are_kept;
      state.note_fields(record);
      result = state.holds(state.tree.root, record);
    });
    if (problem) refuse(*problem);
  } catch (const NumbersAreLost&) {
    refuse({"DATA-54",
            "its numbers cannot be compared, as one of them is beyond 64 bits; mend the line, or ask for a text"});
  }
  return result;
}

std::vector<std::string> RecordExpression::fields_never_found() const {
  std::vector<std::string> fields;
  for (std::size_t i = 0; i < state_->found.size(); ++i) {
    const expression::Field& field = state_->tree.fields[i];
    if (field.compared && !state_->found[i]) fields.push_back(field.pointer);
  }
  return fields;
}

}  // namespace monomorph::data
