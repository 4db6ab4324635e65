#pragma once
#include "data/text/code_point_set.hpp"

#include <optional>
#include <string>

namespace monomorph::data {

/// The members that PCRE2 sees in a set of characters, given without its brackets, among those code points that have
/// names (private ones are left out); nothing if PCRE2 does not know it.
std::optional<CodePointSet> pcre2_class_members(const std::string& names);

/// The code points that pcre2_class_members looks at.
const CodePointSet& pcre2_class_domain();

}  // namespace monomorph::data
