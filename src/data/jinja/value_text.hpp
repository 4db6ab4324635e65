#pragma once
#include "data/jinja/budget.hpp"

#include <monomorph/data/jinja/value.hpp>

#include <optional>
#include <string>

namespace monomorph::data::jinja {

/// As Python's str() has it, and of an undefined value nothing.
std::string text_of(Budget& budget, const Value& value);
/// As Python's repr() has it: within lists, dicts and tuples.
std::string repr_of(Budget& budget, const Value& value);
std::string text_of_real(double number);

struct JsonStyle {
  std::optional<std::string> indent;  ///< of a level; nothing: all on one line
  std::string item_separator = ", ", key_separator = ": ";
  bool is_ascii = false, sorts_keys = false;
};
/// As Python's json.dumps() has it.
std::string json_of(Budget& budget, const Value& value, const JsonStyle& style);

}  // namespace monomorph::data::jinja
