#pragma once
#include <string>

namespace monomorph {

/// Whether a path leads to a file or folder. What can't be looked at counts as not there.
bool is_there(const std::string& path);
/// Whether it leads to a regular file, or to a folder.
bool is_file(const std::string& path);
bool is_folder(const std::string& path);

}  // namespace monomorph
