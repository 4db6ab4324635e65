#pragma once
#include <monomorph/data/jinja/value.hpp>

#include <optional>
#include <string_view>

namespace monomorph::data::jinja {

/// What `object.name` is of a text's, list's or dict's methods, a loop's state or a namespace's attributes; nothing if
/// there is none. Methods that would change a value are refused when they are called.
std::optional<Value> attribute_of(const Value& object, std::string_view name);

}  // namespace monomorph::data::jinja
