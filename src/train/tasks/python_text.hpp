#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace monomorph::train {

// What Python's methods of strings make of valid UTF-8, on which the prompts of harnesses depend.

/// `text.rstrip()`, by Unicode's white space.
std::string_view without_spaces_behind(std::string_view text);
/// `text.strip()`
std::string_view without_spaces_around(std::string_view text);
/// `text.capitalize()`: the first letter large and all others small, but for letters whose other case is several
/// letters, which stay as they are.
std::string capitalized(std::string_view text);
/// `text.replace(from, to)`
std::string replaced(std::string_view text, std::string_view from, std::string_view to);
/// `len(text)`: its code points.
std::size_t n_characters(std::string_view text);

}  // namespace monomorph::train
