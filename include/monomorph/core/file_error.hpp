#pragma once
#include <string>
#include <string_view>

namespace monomorph {

/// `text` in double quotes, on one line whatever it holds: control characters are escaped, more than 200 bytes are cut.
std::string in_quotes(std::string_view text);

/// Throws the Error of a failed system call: "[FILE-NN] cannot <doing> "<path>": <reason>".
/// FILE-01 the file or folder does not exist; FILE-02 the disk (or a quota) is full; FILE-03 every other reason.
/// @param error_number the call's errno
[[noreturn]] void throw_file_error(std::string_view doing, const std::string& path, int error_number);

}  // namespace monomorph
