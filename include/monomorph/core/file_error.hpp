#pragma once
#include <string>
#include <string_view>

namespace monomorph {

/// `text` in double quotes, on one line whatever it holds: control characters are escaped, more than 200 bytes are cut.
std::string in_quotes(std::string_view text);

/// Throws the Error of a failed system call: "[FILE-NN] cannot <doing> "<path>": <reason>".
/// FILE-01 the file or folder does not exist; FILE-02 the disk (or a quota) is full; FILE-06 a limit of a file's size;
/// FILE-03 every other reason.
/// @param error_number the call's errno
[[noreturn]] void throw_file_error(std::string_view doing, const std::string& path, int error_number);

/// Throws [DATA-09]: a file is not what it was when it was opened.
[[noreturn]] void throw_changed_file(const std::string& path);

}  // namespace monomorph
