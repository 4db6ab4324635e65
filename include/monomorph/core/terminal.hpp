#pragma once
#include <cstddef>
#include <string_view>

namespace monomorph {

inline constexpr std::string_view to_line_begin = "\r";
inline constexpr std::string_view erase_to_line_end = "\x1b[K";

/// Whether a person watches this open file, on a terminal that can redraw a line.
bool is_terminal(int descriptor);

/// The columns that a line may fill without being wrapped.
std::size_t terminal_width(int descriptor);

}  // namespace monomorph
