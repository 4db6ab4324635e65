#pragma once
#include "data/text/code_point_set.hpp"

#include <span>
#include <string_view>

namespace monomorph::data::unicode {

/// Characters that a script has got after the tables of the oldest PCRE2 that we build with.
struct ScriptAddition {
  std::string_view script;  ///< its name in lower case, without underscores
  CodePointRange range;
};
std::span<const ScriptAddition> script_additions();

}  // namespace monomorph::data::unicode
