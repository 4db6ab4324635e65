#pragma once
#include <string_view>

namespace monomorph {

/// Writes results to standard output, which may keep them for flush_out().
/// @throws [FILE-02], [FILE-03], [FILE-06] if they cannot be written
void write_out(std::string_view text);

/// To be called before a program says that it succeeded: results that nobody could read are no success.
/// @throws as write_out
void flush_out();

/// A line for people on standard error. That nobody could read it changes nothing.
void write_error_line(std::string_view line) noexcept;

}  // namespace monomorph
