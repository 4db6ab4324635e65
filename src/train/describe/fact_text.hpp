#pragma once
#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <utility>

/// The text that `describe` prints, put together line by line.
namespace monomorph::train {

using Text = fmt::memory_buffer;
template <class... Arguments>
void print(Text& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}
/// A line with a name and what is known of it.
inline void fact(Text& text, std::string_view name, std::string_view value) {
  print(text, "  {:<22}{}\n", name, value);
}

}  // namespace monomorph::train
