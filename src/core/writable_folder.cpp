#include <monomorph/core/writable_folder.hpp>

#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace monomorph {
namespace {

namespace fs = std::filesystem;

/// The folders on the way to `folder` that are not there, the deepest first.
std::vector<fs::path> missing_folders(fs::path folder) {
  std::vector<fs::path> missing;
  std::error_code ignored;  // what can't be looked at is created, and says why it can't
  while (!folder.empty() && !fs::exists(folder, ignored)) {
    missing.push_back(folder);
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return missing;
}

std::optional<std::string> why_no_file_in(const fs::path& folder) {
  std::string name = (folder / ".monomorph-try-XXXXXX").string();
  const int file = mkstemp(name.data());
  if (file == -1) return std::generic_category().message(errno);
  close(file);
  unlink(name.c_str());
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_not_writable(const std::string& folder) {
  const fs::path path = fs::absolute(folder).lexically_normal() / "";
  const std::vector<fs::path> created = missing_folders(path.parent_path());
  std::error_code failure;
  fs::create_directories(path.parent_path(), failure);
  std::optional<std::string> reason = failure ? failure.message() : why_no_file_in(path.parent_path());
  std::error_code ignored;
  for (const fs::path& one : created) fs::remove(one, ignored);
  return reason;
}

}  // namespace monomorph
