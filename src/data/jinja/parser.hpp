#pragma once
#include "data/jinja/syntax.hpp"

#include <string_view>

namespace monomorph::data::jinja {

/// Reads a whole template.   @throws SyntaxError
Program parse(std::string_view source);

}  // namespace monomorph::data::jinja
