#include "data/jinja/bound_arguments.hpp"
#include "data/jinja/filters.hpp"
#include "data/jinja/interpreter.hpp"
#include "data/jinja/operators.hpp"
#include "data/jinja/value_text.hpp"
#include "data/text/python_text.hpp"

#include <monomorph/core/number_text.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace monomorph::data::jinja {
namespace value_filtering {
namespace {

Value abs(Interpreter&, const Value& value, const Arguments& arguments) {
  BoundArguments("abs", arguments, {});
  require_defined(value);
  if (!value.is_number()) fail("abs takes no {}", value.type_name());
  return *value.number() < 0 ? negative(value) : value.integer() ? Value(*value.integer()) : value;
}

Value attr(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("attr", arguments, {"name"}, 1);
  if (value.dict() != nullptr || value.is_undefined()) return Value::undefined("attr finds no attribute");
  return interpreter.attribute(value, bound.text(0));
}

Value fallback(Interpreter&, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("default", arguments, {"default_value", "boolean"});
  const bool is_missing = value.is_undefined() || (bound.flag(1, false) && !is_true(value));
  if (!is_missing) return value;
  return bound.at(0) != nullptr ? bound.value(0) : Value("");
}

/// As Python's int() reads a text: white space around it, a sign, underscores between digits.
std::optional<std::int64_t> whole_from(std::string_view text, int base) {
  std::string digits(python::stripped(text));
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) digits.erase(0, 1);
  const std::string_view prefix = base == 16 ? "0x" : base == 8 ? "0o" : base == 2 ? "0b" : "";
  if (!prefix.empty() && python::lower(digits.substr(0, 2)) == prefix) digits.erase(0, 2);
  if (digits.starts_with('_') || digits.ends_with('_') || digits.find("__") != std::string::npos) return std::nullopt;
  std::erase(digits, '_');
  if (digits.empty() || digits.front() == '-' || digits.front() == '+') return std::nullopt;
  if (is_negative) digits.insert(0, 1, '-');
  std::int64_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (failure != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}
std::optional<double> real_from(std::string_view text) {
  std::string digits(python::stripped(text));
  if (digits.starts_with('+')) digits.erase(0, 1);
  std::erase(digits, '_');
  return number_from<double>(digits);
}

Value whole(Interpreter&, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("int", arguments, {"default", "base"});
  require_defined(value);
  const Value otherwise = bound.at(0) != nullptr ? bound.value(0) : Value(std::int64_t{0});
  const std::int64_t base = bound.integer(1, 10);
  if (base < 2 || base > 36) fail("int takes a base from 2 to 36");
  std::optional<double> number = value.number();
  if (const std::string* const text = value.text()) {
    if (const auto integer = whole_from(*text, static_cast<int>(base))) return *integer;
    number = real_from(*text);
  }
  if (value.integer()) return *value.integer();
  if (!number || !(std::abs(*number) < 9.2e18)) return otherwise;
  return static_cast<std::int64_t>(*number);
}

Value real(Interpreter&, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("float", arguments, {"default"});
  require_defined(value);
  const auto number = value.is_text() ? real_from(*value.text()) : value.number();
  if (number) return *number;
  return bound.at(0) != nullptr ? bound.value(0) : Value(0.0);
}

Value rounded(Interpreter&, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("round", arguments, {"precision", "method"});
  require_defined(value);
  const auto number = value.number();
  const std::int64_t precision = bound.integer(0, 0);
  const std::string method = bound.text(1, "common");
  if (!number) fail("round takes no {}", value.type_name());
  if (precision < -300 || precision > 300) fail("round takes a precision from -300 to 300");
  const double scale = std::pow(10.0, static_cast<double>(precision));
  if (method == "ceil") return std::ceil(*number * scale) / scale;
  if (method == "floor") return std::floor(*number * scale) / scale;
  if (method != "common") fail("round goes common, ceil or floor");
  if (value.integer() && precision >= 0) return *value.integer();
  if (precision < 0) {
    const double steps = std::nearbyint(*number * scale) / scale;
    if (value.integer() && std::abs(steps) >= 0x1p63)
      fail("{} is rounded to a number beyond 64 bits", *value.integer());
    return value.integer() ? Value(static_cast<std::int64_t>(steps)) : Value(steps);
  }
  if (!std::isfinite(*number)) return *number;
  return *number_from<double>(fmt::format("{:.{}f}", *number, precision));
}

Value length(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  BoundArguments("length", arguments, {});
  return static_cast<std::int64_t>(size_of(interpreter.budget(), value));
}

JsonStyle style_of(Budget& budget, const BoundArguments& bound) {
  JsonStyle style;
  style.is_ascii = bound.flag(0, false);
  style.sorts_keys = bound.flag(3, false);
  if (const Value* const indent = bound.some(1)) {
    if (indent->is_text()) {
      style.indent = *indent->text();
    } else {
      const auto width = static_cast<std::size_t>(std::max<std::int64_t>(bound.integer(1, 0), 0));
      budget.make(width);
      style.indent = std::string(width, ' ');
    }
    style.item_separator = ",";
  }
  if (const Value* const separators = bound.some(2)) {
    const std::vector<Value> pair = items_of(budget, *separators);
    if (pair.size() != 2 || !pair[0].is_text() || !pair[1].is_text()) fail("tojson takes two texts as separators");
    style.item_separator = *pair[0].text();
    style.key_separator = *pair[1].text();
  }
  return style;
}

/// As transformers defines it: without the escapes for HTML.
Value tojson(Interpreter& interpreter, const Value& value, const Arguments& arguments) {
  const BoundArguments bound("tojson", arguments, {"ensure_ascii", "indent", "separators", "sort_keys"});
  require_defined(value);
  return json_of(interpreter.budget(), value, style_of(interpreter.budget(), bound));
}

constexpr NamedFilter filters_of_values[] = {{"abs", abs},      {"attr", attr},        {"count", length},
                                             {"d", fallback},   {"default", fallback}, {"float", real},
                                             {"int", whole},    {"length", length},    {"round", rounded},
                                             {"tojson", tojson}};

}  // namespace
}  // namespace value_filtering

std::span<const NamedFilter> value_filters() { return value_filtering::filters_of_values; }

}  // namespace monomorph::data::jinja
