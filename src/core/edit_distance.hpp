#pragma once
#include <cstddef>
#include <span>
#include <string_view>

namespace monomorph {

/// How many single characters must be inserted, deleted or replaced to make one word of the other (Levenshtein).
std::size_t edit_distance(std::string_view from, std::string_view to);

}  // namespace monomorph
