#pragma once
#include <monomorph/data/jinja/value.hpp>

#include <span>
#include <string_view>

namespace monomorph::data::jinja {

using FilterFunction = Value (*)(Interpreter&, const Value&, const Arguments&);

struct NamedFilter {
  std::string_view name;
  FilterFunction function;
};

/// What stands behind `|`; nullptr if there is none of the name.
FilterFunction find_filter(std::string_view name);

// By what they take.
std::span<const NamedFilter> text_filters();
std::span<const NamedFilter> list_filters();
std::span<const NamedFilter> value_filters();

}  // namespace monomorph::data::jinja
