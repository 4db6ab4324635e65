#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data::jinja {

/// What stands between the quotes of a literal, as Python's codec `unicode-escape` reads it; nothing if an escape is
/// cut off or names no character.
std::optional<std::string> meaning_of_literal(std::string_view literal);

}  // namespace monomorph::data::jinja
