#include "data/jinja/bound_arguments.hpp"

#include "data/jinja/operators.hpp"

#include <algorithm>

namespace monomorph::data::jinja {

BoundArguments::BoundArguments(std::string_view function, const Arguments& arguments,
                               std::initializer_list<std::string_view> names, std::size_t n_required)
    : function_(function), values_(names.size()) {
  if (arguments.positional.size() > names.size())
    fail("{} takes {} values at most, and is given {}", function, names.size(), arguments.positional.size());
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto place = static_cast<std::size_t>(std::ranges::find(names, name) - names.begin());
    if (place == names.size()) fail("{} takes no argument by the name {}", function, name);
    if (values_[place] != nullptr) fail("{} is given {} twice", function, name);
    values_[place] = &value;
  }
  for (std::size_t i = 0; i < n_required; ++i)
    if (values_[i] == nullptr) fail("{} needs {}", function, names.begin()[i]);
}

bool BoundArguments::flag(std::size_t place, bool fallback) const {
  return values_[place] == nullptr ? fallback : is_true(value(place));
}

std::int64_t BoundArguments::integer(std::size_t place, std::int64_t fallback) const {
  if (values_[place] == nullptr) return fallback;
  const auto integer = value(place).integer();
  if (!integer) fail("{} takes a whole number, not {}", function_, value(place).type_name());
  return *integer;
}

const std::string& BoundArguments::text(std::size_t place) const {
  require_defined(value(place));
  if (!value(place).is_text()) fail("{} takes a text, not {}", function_, value(place).type_name());
  return *value(place).text();
}
std::string BoundArguments::text(std::size_t place, std::string_view fallback) const {
  return values_[place] == nullptr ? std::string(fallback) : text(place);
}

const Value* BoundArguments::some(std::size_t place) const {
  return values_[place] == nullptr || value(place).is_none() ? nullptr : values_[place];
}

}  // namespace monomorph::data::jinja
