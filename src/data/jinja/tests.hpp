#pragma once
#include <monomorph/data/jinja/value.hpp>

#include <string_view>

namespace monomorph::data::jinja {

using TestFunction = bool (*)(Interpreter&, const Value&, const Arguments&);

/// What stands behind `is`; nullptr if there is none of the name.
TestFunction find_test(std::string_view name);

}  // namespace monomorph::data::jinja
