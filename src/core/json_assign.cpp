#include "core/json_assign.hpp"

#include "core/edit_distance.hpp"
#include "core/overloaded.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace monomorph {
namespace {

std::string describe(const JsonScalar& value) {
  return std::visit(Overloaded{[](bool truth) { return std::string(truth ? "true" : "false"); },
                               [](std::int64_t number) { return std::to_string(number); },
                               [](const JsonReal& real) { return real.text; },
                               [](const std::string& text) { return in_quotes(text); },
                               [](const JsonOther& other) { return std::string(other.description); }},
                    value);
}

/// 1e3 and 2.0 are whole numbers, too, as in JSON Schema.
bool is_whole(const JsonScalar& value) {
  if (std::holds_alternative<std::int64_t>(value)) return true;
  const auto* real = std::get_if<JsonReal>(&value);
  return real != nullptr && std::trunc(real->value) == real->value;
}

std::int64_t read_whole(const FieldRef& field, std::int64_t min, std::int64_t max, const JsonScalar& value,
                        const std::string& where) {
  if (!is_whole(value)) reject_type(field, describe(value), where);
  std::int64_t number = 0;
  if (const auto* real = std::get_if<JsonReal>(&value)) {
    constexpr double limit = 9.2e18;  // below the largest std::int64_t; bounds are far below
    if (std::abs(real->value) > limit) reject_range(field, real->text, where);
    number = static_cast<std::int64_t>(real->value);
  } else {
    number = std::get<std::int64_t>(value);
  }
  if (number < min || number > max) reject_range(field, describe(value), where);
  return number;
}

double read_real(const FieldRef& field, const RealRef& target, const JsonScalar& value, const std::string& where) {
  double number = 0.0;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    number = static_cast<double>(*whole);
  } else if (const auto* real = std::get_if<JsonReal>(&value)) {
    number = real->value;
  } else {
    reject_type(field, describe(value), where);
  }
  if (!(number >= target.min && number <= target.max)) reject_range(field, describe(value), where);
  return number;
}

const std::string& read_string(const FieldRef& field, const JsonScalar& value, const std::string& where) {
  const auto* text = std::get_if<std::string>(&value);
  if (text == nullptr) reject_type(field, describe(value), where);
  return *text;
}

std::size_t read_name(const FieldRef& field, const EnumRef& target, const JsonScalar& value, const std::string& where) {
  const std::string& word = read_string(field, value, where);
  const auto found = std::ranges::find(target.names, word);
  if (found == target.names.end()) reject_range(field, in_quotes(word), where);
  return static_cast<std::size_t>(found - target.names.begin());
}

std::string_view last_part(std::string_view dotted) { return dotted.substr(dotted.rfind('.') + 1); }

constexpr std::size_t longest_considered = 100;  // bounds the work for a hostile key

}  // namespace

std::string expectation(const FieldRef& field) {
  return std::visit(
      Overloaded{[](const IntegerRef& target) { return "a whole number " + format_bounds(target.min, target.max); },
                 [](const CountRef& target) {
                   return fmt::format("a whole number {} or \"{}\"", format_bounds(target.min, target.max),
                                      target.word);
                 },
                 [](const RealRef& target) { return "a number " + format_bounds(target.min, target.max); },
                 [](const bool*) { return std::string("true or false"); },
                 [](const std::string*) { return std::string("a string"); },
                 [](const WeightedPaths*) {
                   return std::string(R"(a string, or an array of {"path": ..., "weight": ...})");
                 },
                 [](const NamedPaths*) { return std::string(R"(a string, or an object of names and paths)"); },
                 [](const EnumRef& target) { return fmt::format("one of \"{}\"", fmt::join(target.names, "\", \"")); }},
      field.target);
}

void reject_type(const FieldRef& field, std::string_view found, const std::string& where) {
  throw UsageError("HPARAM-02", fmt::format("{} must be {}, not {} ({}); it means: {}", field.name, expectation(field),
                                            found, where, field.doc));
}

void reject_range(const FieldRef& field, std::string_view found, const std::string& where) {
  throw UsageError("HPARAM-03", fmt::format("{} must be {}, not {} ({}); it means: {}", field.name, expectation(field),
                                            found, where, field.doc));
}

std::string nearest_key(std::span<const FieldRef> fields, std::string_view dotted) {
  const std::string_view given = dotted.substr(0, longest_considered);
  std::size_t least = std::numeric_limits<std::size_t>::max();
  std::string_view nearest;
  const auto consider = [&](std::string_view known) {  // a right name in a wrong section is nearly right
    if (known == dotted) return;                       // a section where one of its fields is meant
    const bool is_inside = known.starts_with(std::string(given) + ".");
    const std::size_t distance = is_inside ? 0
                                           : std::min(2 * edit_distance(given, known),
                                                      2 * edit_distance(last_part(given), last_part(known)) + 1);
    if (distance >= least) return;
    least = distance;
    nearest = known;
  };
  for (const FieldRef& field : fields) {
    for (std::size_t dot = field.name.find('.'); dot != std::string::npos; dot = field.name.find('.', dot + 1)) {
      consider(std::string_view(field.name).substr(0, dot));
    }
    consider(field.name);
  }
  return std::string(nearest);
}

bool is_likely(std::string_view dotted, std::string_view nearest) {
  const std::string_view given = last_part(dotted).substr(0, longest_considered), meant = last_part(nearest);
  return edit_distance(given, meant) <= meant.size() / 2;
}

void reject_key(std::string_view dotted, std::string_view nearest, const std::string& where) {
  throw UsageError("HPARAM-01", fmt::format("{} is not a hyperparameter ({}); the nearest known key is \"{}\"",
                                            in_quotes(dotted), where, nearest));
}

void assign(const FieldRef& field, const JsonScalar& value, const std::string& where) {
  std::visit(Overloaded{[&](const IntegerRef& target) {
                          *target.value = read_whole(field, target.min, target.max, value, where);
                        },
                        [&](const CountRef& target) {
                          if (const auto* word = std::get_if<std::string>(&value)) {
                            if (*word != target.word) reject_type(field, in_quotes(*word), where);
                            target.value->reset();
                          } else {
                            *target.value = read_whole(field, target.min, target.max, value, where);
                          }
                        },
                        [&](const RealRef& target) { *target.value = read_real(field, target, value, where); },
                        [&](bool* target) {
                          const auto* truth = std::get_if<bool>(&value);
                          if (truth == nullptr) reject_type(field, describe(value), where);
                          *target = *truth;
                        },
                        [&](std::string* target) { *target = read_string(field, value, where); },
                        [&](WeightedPaths* target) {
                          const std::string& path = read_string(field, value, where);
                          *target = path.empty() ? WeightedPaths{} : WeightedPaths{{path}};
                        },
                        [&](NamedPaths* target) {
                          const std::string& path = read_string(field, value, where);
                          *target = path.empty() ? NamedPaths{} : NamedPaths{{"", path}};
                        },
                        [&](const EnumRef& target) {
                          target.set(target.value, read_name(field, target, value, where));
                        }},
             field.target);
}

}  // namespace monomorph
