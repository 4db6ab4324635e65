#pragma once
#include "data/jinja/budget.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data::jinja {

/// The parts between a separator, as str.split() and str.rsplit() have them.   @param most splits; below 0: any number
std::vector<std::string_view> split_by(std::string_view text, std::string_view separator, std::int64_t most,
                                       bool from_right);
/// The same between runs of white space, without empty parts.
std::vector<std::string_view> split_by_space(std::string_view text, std::int64_t most, bool from_right);
/// As str.replace(); an empty `old` stands before each character and at the end.
std::string replaced(Budget& budget, std::string_view text, std::string_view old, std::string_view with,
                     std::int64_t most);

}  // namespace monomorph::data::jinja
