#pragma once
#include <monomorph/core/hparams.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace monomorph {

/// A number that no std::int64_t is, and how it was written.
struct JsonReal {
  double value;
  std::string text;
};

/// What stands in the place of a hyperparameter's value; `other` describes null, arrays and objects.
struct JsonOther {
  std::string_view description;
};
using JsonScalar = std::variant<bool, std::int64_t, JsonReal, std::string, JsonOther>;

/// Checks a value against the field's type and bounds and stores it. `where` is such as "run.json:4".
void assign(const FieldRef& field, const JsonScalar& value, const std::string& where);

/// "a number from 0 to 1", `a whole number from 1 to 5 or "all"`, "true or false", …
std::string expectation(const FieldRef& field);

[[noreturn]] void reject_type(const FieldRef& field, std::string_view found, const std::string& where);
[[noreturn]] void reject_range(const FieldRef& field, std::string_view found, const std::string& where);
[[noreturn]] void reject_key(std::string_view dotted, std::string_view nearest, const std::string& where);

/// The field or section whose name is most like a key that is none.
std::string nearest_key(std::span<const FieldRef> fields, std::string_view dotted);
/// Whether the nearest key is so near that it was probably meant.
bool is_likely(std::string_view dotted, std::string_view nearest);

}  // namespace monomorph
