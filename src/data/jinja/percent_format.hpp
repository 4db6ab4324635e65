#pragma once
#include "data/jinja/budget.hpp"

#include <monomorph/data/jinja/value.hpp>

#include <string>

namespace monomorph::data::jinja {

/// `form % values`, as Python's texts have it: %s, %r, %d, %i, %f, %e, %g, %x, %o, %c and %%, with flags, width and
/// precision; values are a tuple, one value, or a dict for names in parentheses.
std::string percent_format(Budget& budget, const std::string& form, const Value& values);

/// `form.format(…)`: fields in braces by number, name or in their order, with attributes left out.
std::string brace_format(Budget& budget, const std::string& form, const Arguments& arguments);

}  // namespace monomorph::data::jinja
