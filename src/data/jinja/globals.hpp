#pragma once
#include "data/jinja/interpreter.hpp"

namespace monomorph::data::jinja {

/// The functions that every template can call: range, dict, namespace, joiner, raise_exception and strftime_now.
Variables global_variables();

}  // namespace monomorph::data::jinja
