#pragma once
#include <monomorph/data/jinja/value.hpp>

#include <string_view>

namespace monomorph::data::jinja {

using Method = Value (*)(Interpreter&, const Value& self, const Arguments&);

/// A method of Python's str; nullptr if there is none of the name.
Method find_text_method(std::string_view name);

}  // namespace monomorph::data::jinja
